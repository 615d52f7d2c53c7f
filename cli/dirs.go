package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dirs is where skein keeps its files.
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
type dirs struct {
	Home   string // the person's; "" if not known
	Data   string // skein.db, backups
	State  string // logs, locks, tokens
	Cache  string // what can be made again
	Config string // config.toml
}

// owned returns the data folder if it belongs to skein: it has skein's name, or it
// is SKEIN_HOME and has nothing else in it. Otherwise it returns "".
func (d dirs) owned() string {
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

// findDirs works out the folders. The error says if the environment has no home
// folder, or one that is not an absolute path.
func findDirs(env *Env) (dirs, error) {
	name := "HOME"
	if env.OS == "windows" {
		name = "USERPROFILE"
	}
	home := env.Getenv(name)
	if home != "" && !filepath.IsAbs(home) {
		return dirs{}, advise(usagef("%s=%q: it is not an absolute path", name, home), "set %s to your home folder", name)
	}
	if one := env.Getenv("SKEIN_HOME"); one != "" {
		if !filepath.IsAbs(one) {
			return dirs{}, usagef("SKEIN_HOME=%q: it is not an absolute path", one)
		}
		return dirs{home, one, filepath.Join(one, "state"), filepath.Join(one, "cache"), filepath.Join(one, "config")}, nil
	}
	if home == "" {
		return dirs{}, advise(fmt.Errorf("there is no home folder: %s is not set", name), "set %s, or SKEIN_HOME to the folder for skein's files", name)
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
		return dirs{home, roaming, local, filepath.Join(local, "cache"), roaming}, nil
	case "darwin":
		support := filepath.Join(home, "Library", "Application Support", "skein")
		return dirs{home, support, support, filepath.Join(home, "Library", "Caches", "skein"), support}, nil
	}
	return dirs{
		Home:   home,
		Data:   at("XDG_DATA_HOME", ".local", "share"),
		State:  at("XDG_STATE_HOME", ".local", "state"),
		Cache:  at("XDG_CACHE_HOME", ".cache"),
		Config: at("XDG_CONFIG_HOME", ".config"),
	}, nil
}
