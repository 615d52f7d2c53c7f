package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/prose"
)

// A frame is what all commands share before they run: the environment and the
// global flags.
type frame struct {
	env     *Env
	store   string // --store
	color   string // --color
	noPager bool   // --no-pager
	verbose bool   // --verbose
	wide    bool   // --wide
	started bool   // a run function was reached: errors are no longer the command line's
}

// A job is what a command's run function receives.
type job struct {
	*Env
	dirs     dirs
	settings settings
	paint    prose.Paint
	noPager  bool
	verbose  bool
	wide     bool                             // tables are not cut
	place    Place                            // of the store
	store    skein.Store                      // nil if the command needs none
	whole    skein.Store                      // the same store, of all users if store is one user's view
	lost     func(*skein.DamagedRecordsError) // called for source records that were skipped; nil if nobody asks
	detached bool                             // started by Detach: it must not detach itself, or there would be no end
}

// A runner does a command's work; args are the words after the flags.
type runner func(ctx context.Context, j *job, args []string) error

// plain returns the cobra run function of a command that needs no store.
func (f *frame) plain(run runner) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		f.started = true
		j, err := f.job()
		if err != nil {
			return err
		}
		return run(c.Context(), j, args)
	}
}

// withStore returns the cobra run function of a command that works on the store. It
// opens the store before run and closes it after.
func (f *frame) withStore(run runner) func(*cobra.Command, []string) error {
	return f.plain(func(ctx context.Context, j *job, args []string) (err error) {
		if err := j.begin(ctx); err != nil {
			return unopened(j, err)
		}
		stop := j.rolling(ctx)
		defer func() {
			stop()
			err = errors.Join(err, j.whole.Close())
		}()
		return run(ctx, j, args)
	})
}

// begin opens the store, and takes the view of the user that the settings name. The
// caller closes whole.
func (j *job) begin(ctx context.Context) (err error) {
	if j.whole, err = j.open(ctx); err != nil {
		return err
	}
	j.store = j.whole
	if u := j.settings.text("user"); u != "" && isDatabase(j.place.Scheme) {
		j.store = j.whole.As(skein.User(u))
	}
	return nil
}

// unopened returns err, the reason why the store was not opened. It adds advice if
// the file is not a store, or too damaged to open: then no other advice helps.
func unopened(j *job, err error) error {
	const another = "name another file with --store; this one was not touched"
	file := j.place.file()
	switch {
	case file == "":
		return err
	case errors.Is(err, skein.ErrInvalid): // another program's database
		return advise(err, another)
	case !errors.Is(err, skein.ErrCorrupt):
		return err
	case j.settings.values["store"].From != "default" && isText(file):
		return advise(usagef("%s is not a skein store: it is text", j.tilde(file)), another)
	}
	hint := fmt.Sprintf("save what can be read: skein doctor --repair\n"+
		"or move %s* to another folder; what then runs begins a new store\n"+
		"bring back a backup after that: skein restore-backup FILE", j.tilde(j.place.Path))
	if _, err := os.Stat(j.backups()); err == nil {
		hint += "\nthe backups: ls " + j.tilde(j.backups())
	}
	return advise(err, "%s", hint)
}

// isText reports whether the file at path begins with text. No part of a store
// does, not even a damaged one: its pages contain zero bytes.
func isText(path string) bool {
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

// job reads the settings and returns a new job.
func (f *frame) job() (*job, error) {
	d, err := findDirs(f.env)
	if err != nil {
		return nil, err
	}
	cwd, err := f.env.Getwd()
	if err != nil {
		return nil, advise(fmt.Errorf("the folder that this runs in is not there any more: %w", err), "go to another one first: cd ~")
	}
	s, err := loadSettings(f.env, d, cwd, map[string]string{"store": f.store, "color": f.color})
	if err != nil {
		return nil, err
	}
	place, err := parsePlace(s.text("store"), cwd, d.Home)
	if err != nil {
		return nil, err
	}
	if err := s.hidePassword(place); err != nil {
		return nil, err
	}
	p, err := newPaint(f.env, s.text("color"))
	return &job{Env: f.env, dirs: d, settings: s, paint: p, noPager: f.noPager, verbose: f.verbose, wide: f.wide, place: place}, err
}

// words returns a check that a command has between min and max arguments (max -1:
// no limit); what names them in its error.
func words(min, max int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < min:
			return usagef("%s needs %s", c.CommandPath(), what)
		case max == 0 && len(args) > 0:
			return usagef("%s takes no %q", c.CommandPath(), args[0])
		case max >= 0 && len(args) > max:
			return usagef("%s takes only %s; %q is too much", c.CommandPath(), what, args[max])
		}
		return nil
	}
}
