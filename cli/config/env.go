package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/terminal"
)

// An Env is everything outside the program that commands may use.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Terminal       TerminalInfo
	Getenv         func(name string) string
	Getwd          func() (string, error)
	Now            func() time.Time // its location is the time zone of what is shown
	OS             string           // like runtime.GOOS
	Version        string           // of the program

	// Open opens the store of a file or a database. The caller closes it.
	Open func(ctx context.Context, place Place) (skein.Store, error)

	// Keys makes the terminal of Stdin deliver each key as it is pressed, also Ctrl-C,
	// without echo; restore undoes that. It is nil if that cannot be done.
	Keys func() (restore func() error, err error)

	// Wait waits between two attempts of a model request; nil means to really wait.
	Wait func(ctx context.Context, d time.Duration) error

	KeyRing KeyRing // nil if there is none

	// Detach starts this program, to run on after this process has ended. It is nil if
	// that cannot be done.
	Detach func(Detached) error
}

// A Detached is a process of this program that runs on after the one that started it.
type Detached struct {
	Args   []string
	Dir    string // its working folder; "" for that of this process
	Output string // the file that it prints to, made anew; "" for none
}

// A TerminalInfo says which streams are a terminal and how large it is.
type TerminalInfo struct {
	In, Out, Err  bool
	Width, Height int // columns and lines; 0 if unknown
}

// A Place says where a store is.
type Place struct {
	Scheme string // sqlite, postgres, or https or http for a server
	Path   string // of a file its absolute path, of a server its URL, of a database its address, which may include a password
}

// Columns returns the width that output to stdout must fit in; 0 if there is no
// limit.
func (t TerminalInfo) Columns() int {
	if !t.Out {
		return 0
	}
	return terminal.CmpOr(t.Width, 80)
}

// A KeyRing stores the keys of a person's providers, encrypted, outside of skein.
type KeyRing interface {
	// Key returns a provider's key, "" if it has none. Errors are the system's.
	Key(provider string) (string, error)

	// SetKey stores a provider's key, in place of an earlier one. The error wraps
	// [ErrNoKeyRing], or is the system's.
	SetKey(provider, key string) error

	// DropKey removes a provider's key; it is not an error if there is none. Errors are
	// as for SetKey.
	DropKey(provider string) error
}

// ErrNoKeyRing says that this system has no key ring, or that it is not running.
var ErrNoKeyRing = errors.New("this machine has no key ring")

// Secret returns a function that looks up keys in the key ring, nil if there is
// none.
func (e *Env) Secret() func(provider string) (string, error) {
	if e.KeyRing == nil {
		return nil
	}
	return e.KeyRing.Key
}

// Dirs is where skein keeps its files.
//
//	        Linux and others           macOS                                Windows
//	data    $XDG_DATA_HOME/skein       ~/Library/Application Support/skein  %APPDATA%\skein
//	state   $XDG_STATE_HOME/skein      as data                              %LOCALAPPDATA%\skein
//	cache   $XDG_CACHE_HOME/skein      ~/Library/Caches/skein               %LOCALAPPDATA%\skein\cache
//	config  $XDG_CONFIG_HOME/skein     as data                              %APPDATA%\skein
//
// where the XDG folders are ~/.local/share, ~/.local/state, ~/.cache and
// ~/.config if they are not set to an absolute path. $SKEIN_HOME puts all four
// into one folder: data itself, and state, cache and config below it.
type Dirs struct {
	Home   string // the person's; "" if not known
	Data   string // skein.db, backups
	State  string // logs, locks, tokens
	Cache  string // what can be made again
	Config string // config.toml
}

// Owned returns the data folder if it belongs to skein: it has skein's name, or it
// is SKEIN_HOME and has nothing else in it. Otherwise it returns "", also if the
// folder is a link to one that somebody else made.
func (d Dirs) Owned() string {
	if st, err := os.Lstat(d.Data); err != nil || !st.IsDir() {
		return ""
	}
	if d.State != filepath.Join(d.Data, "state") || d.Config == d.Data { // not from SKEIN_HOME
		return d.Data
	}
	entries, err := os.ReadDir(d.Data)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, "skein.db") && !slices.Contains([]string{"backups", "state", "cache", "config"}, name) {
			return ""
		}
	}
	return d.Data
}

// FindDirs works out the folders. The error says if the environment has no home
// folder, or one that is not an absolute path.
func FindDirs(env *Env) (Dirs, error) {
	name := "HOME"
	if env.OS == "windows" {
		name = "USERPROFILE"
	}
	home := env.Getenv(name)
	if home != "" && !filepath.IsAbs(home) {
		return Dirs{}, fault.Advise(fault.Usage("%s=%q: it is not an absolute path", name, home), "set %s to your home folder", name)
	}
	if one := env.Getenv("SKEIN_HOME"); one != "" {
		if !filepath.IsAbs(one) {
			return Dirs{}, fault.Usage("SKEIN_HOME=%q: it is not an absolute path", one)
		}
		return Dirs{home, one, filepath.Join(one, "state"), filepath.Join(one, "cache"), filepath.Join(one, "config")}, nil
	}
	if home == "" {
		return Dirs{}, fault.Advise(fmt.Errorf("the home folder is unknown: %s is not set", name), "set %s, or SKEIN_HOME to the folder for skein's files", name)
	}
	at := func(name string, rest ...string) string {
		dir := env.Getenv(name)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(append([]string{home}, rest...)...)
		}
		return filepath.Join(dir, "skein")
	}
	switch env.OS {
	case "windows":
		roaming, local := at("APPDATA", "AppData", "Roaming"), at("LOCALAPPDATA", "AppData", "Local")
		return Dirs{home, roaming, local, filepath.Join(local, "cache"), roaming}, nil
	case "darwin":
		support := filepath.Join(home, "Library", "Application Support", "skein")
		return Dirs{home, support, support, filepath.Join(home, "Library", "Caches", "skein"), support}, nil
	}
	return Dirs{
		Home:   home,
		Data:   at("XDG_DATA_HOME", ".local", "share"),
		State:  at("XDG_STATE_HOME", ".local", "state"),
		Cache:  at("XDG_CACHE_HOME", ".cache"),
		Config: at("XDG_CONFIG_HOME", ".config"),
	}, nil
}

// FromHome returns path with ~/ at its beginning replaced by the home folder.
func FromHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}
