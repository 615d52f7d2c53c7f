package job

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/prose"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
)

// NewPaint decides whether to use colors: when is always, never or auto. With auto,
// colors are used if stdout is a terminal that supports them and NO_COLOR is not
// set.
//
// The error wraps fault.ErrUsage if when is none of these.
func NewPaint(env *config.Env, when string) (prose.Paint, error) {
	switch when {
	case "always":
		return prose.Paint{On: true}, nil
	case "never":
		return prose.Paint{}, nil
	case "auto":
		return prose.Paint{On: env.Terminal.Out && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"}, nil
	}
	return prose.Paint{}, fault.Usage("color %q: want auto, always or never", when)
}

// A Frame is what all commands share before they run: the environment and the
// global flags.
type Frame struct {
	Env     *config.Env
	Store   string // --store
	Color   string // --color
	NoPager bool   // --no-pager
	Verbose bool   // --verbose
	wide    bool   // --wide
	Started bool   // a run function was reached: errors are no longer the command line's
}

// A Job is what a command's run function receives.
type Job struct {
	*config.Env
	Dirs     config.Dirs
	Settings config.Settings
	Paint    prose.Paint
	NoPager  bool
	Verbose  bool
	Wide     bool                             // tables are not cut
	Place    config.Place                     // of the store
	Store    skein.Store                      // nil if the command needs none
	Whole    skein.Store                      // the same store, of all users if store is one user's view
	Lost     func(*skein.DamagedRecordsError) // called for source records that were skipped; nil if nobody asks
	Detached bool                             // started by Detach: it must not detach itself, or there would be no end
}

// A Runner does a command's work; args are the words after the flags.
type Runner func(ctx context.Context, j *Job, args []string) error

// Plain returns the cobra run function of a command that needs no store.
func (f *Frame) Plain(run Runner) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		f.Started = true
		if err := emptyFlag(c); err != nil {
			return err
		}
		j, err := f.NewJob()
		if err != nil {
			return err
		}
		return run(c.Context(), j, args)
	}
}

// MayBeEmpty is the annotation of a flag for which an empty value is one like others.
const MayBeEmpty = "skein: may be empty"

// emptyFlag returns an error if a flag was given an empty value, as a variable that is
// not set would: a command would do for all, or for another, what was meant for one.
func emptyFlag(c *cobra.Command) (err error) {
	c.Flags().Visit(func(g *pflag.Flag) {
		if _, may := g.Annotations[MayBeEmpty]; !may && g.Value.Type() == "string" && strings.TrimSpace(g.Value.String()) == "" {
			err = fault.Usage("--%s is empty", g.Name)
		}
	})
	return err
}

// Bare returns the cobra run function of a command that needs no settings, so that it
// also works while these are wrong.
func (f *Frame) Bare(run Runner) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		f.Started = true
		return run(c.Context(), &Job{Env: f.Env}, args)
	}
}

// WithStore returns the cobra run function of a command that works on the store. It
// opens the store before run and closes it after.
func (f *Frame) WithStore(run Runner) func(*cobra.Command, []string) error {
	return f.Plain(func(ctx context.Context, j *Job, args []string) (err error) {
		if err := j.Begin(ctx); err != nil {
			return Unopened(j, err)
		}
		stop := j.rolling(ctx)
		defer func() {
			stop()
			err = errors.Join(err, j.Whole.Close())
		}()
		return run(ctx, j, args)
	})
}

// Begin opens the store, and takes the view of the user that the settings name. The
// caller closes whole.
//
// The error is that of opening the store.
func (j *Job) Begin(ctx context.Context) (err error) {
	if j.Whole, err = j.open(ctx); err != nil {
		return err
	}
	j.Store = j.Whole
	if u := j.Settings.Text("user"); u != "" && config.IsDatabase(j.Place.Scheme) {
		j.Store = j.Whole.As(skein.User(u))
	}
	return nil
}

// Unopened returns err, the reason why the store was not opened. It adds advice if
// the file is not a store, or too damaged to open: then no other advice helps.
//
// The error wraps err.
func Unopened(j *Job, err error) error {
	const another = "name another file with --store; this one was not changed"
	file := j.Place.File()
	switch {
	case file == "":
		return err
	case errors.Is(err, skein.ErrInvalid): // another program's database
		return fault.Advise(err, another)
	case !errors.Is(err, skein.ErrCorrupt):
		return err
	case j.Settings.Values["store"].From != "default" && IsText(file):
		return fault.Advise(fault.Usage("%s is not a skein store: it is text", j.Tilde(file)), another)
	}
	hint := fmt.Sprintf("save what can be read: skein doctor --repair\n"+
		"or move %s* to another folder; the next command begins a new store\n"+
		"then bring back a backup: skein restore-backup FILE", j.Tilde(j.Place.Path))
	if _, err := os.Stat(j.Backups()); err == nil {
		hint += "\nthe backups: ls " + j.Tilde(j.Backups())
	}
	return fault.Advise(err, "%s", hint)
}

// IsText reports whether the file at path begins with text. No part of a store
// does, not even a damaged one: its pages contain zero bytes.
func IsText(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	page := make([]byte, 4096)
	n, err := io.ReadFull(f, page)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	return bytes.IndexByte(page[:n], 0) < 0
}

// NewJob reads the settings and returns a new job.
//
// The error says which setting, variable or flag is not accepted.
func (f *Frame) NewJob() (*Job, error) {
	d, err := config.FindDirs(f.Env)
	if err != nil {
		return nil, err
	}
	cwd, err := f.Env.Getwd()
	if err != nil {
		return nil, fault.Advise(fmt.Errorf("the current folder no longer exists: %w", err), "change to another one first: cd ~")
	}
	s, err := config.LoadSettings(f.Env, d, cwd, map[string]string{"store": f.Store, "color": f.Color})
	if err != nil {
		return nil, err
	}
	place, err := config.ParsePlace(s.Text("store"), cwd, d.Home)
	if err != nil {
		return nil, err
	}
	if err := s.HidePassword(place); err != nil {
		return nil, err
	}
	p, err := NewPaint(f.Env, s.Text("color"))
	return &Job{Env: f.Env, Dirs: d, Settings: s, Paint: p, NoPager: f.NoPager, Verbose: f.Verbose, Wide: f.wide, Place: place}, err
}

// WriteJSON writes v as JSON on one line.
//
// The error is that of writing to w.
func WriteJSON(w io.Writer, v any) error {
	b := bufio.NewWriterSize(w, 64<<10) // so that a usual line is one write
	for piece, err := range skein.JSONPieces(v) {
		if err != nil {
			return err
		}
		if _, err := b.Write(piece); err != nil {
			return err
		}
	}
	_ = b.WriteByte('\n') // Flush returns its error
	return b.Flush()
}

// Say writes a message that is not a result to stderr.
func (j *Job) Say(format string, args ...any) { Tell(j.Env, fmt.Sprintf(format, args...)) }

// Tell writes text to stderr, cleaned; on a terminal, wrapped to its width.
func Tell(e *config.Env, text string) {
	text = render.Clean(text)
	if e.Terminal.Err && e.Terminal.Width > 0 {
		text = terminal.HelpText{Width: e.Terminal.Width + 1}.Wrap(text, 0)
	}
	fmt.Fprintln(e.Stderr, text)
}
