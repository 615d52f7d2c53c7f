package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/inspect"
)

// roll makes a backup if one is due.
func roll(ctx context.Context, j *job.Job, k inspect.Backups) (path string, err error) {
	if due, err := k.Due(ctx, j.Keeps()); err != nil || !due {
		return "", err
	}
	return k.Roll(ctx, j.Keeps())
}

// listCopies prints the backups that the store can be restored to, the newest
// first.
func listCopies(ctx context.Context, j *job.Job, k inspect.Backups, asJSON bool) error {
	all, err := k.Copies(ctx)
	if err != nil {
		return err
	}
	t := &terminal.Table{Columns: []terminal.Column{{Title: "MADE"}, {Title: "WHY", Rank: 1}, {Title: "SIZE", Right: true, Rank: 2}, {Title: "FILE"}}}
	for _, c := range all {
		if asJSON {
			if err := job.WriteJSON(j.Stdout, c); err != nil {
				return err
			}
			continue
		}
		size := terminal.BytesText(c.Size)
		if c.Gone {
			size = "gone"
		}
		t.Rows = append(t.Rows, []string{terminal.Stamp(c.Made, j.Now()), string(c.Kind), size, render.Line(j.Tilde(c.Path))})
	}
	switch {
	case asJSON:
		return nil
	case len(all) == 0:
		j.Say("there is no backup yet; make one: skein backup")
		return nil
	}
	if err := j.Table(j.Stdout, t); err != nil {
		return err
	}
	j.Say("restore the store from one: skein restore-backup FILE")
	return nil
}

// NewBackup returns the command backup.
func NewBackup(f *job.Frame) *cobra.Command {
	var json, due bool
	c := &cobra.Command{
		Use:   "backup [FILE]",
		Short: "copy the whole store to a file",
		Long: `Copy the whole store, as it is at one moment, to a new file, while other
programs go on writing. Without FILE, the copy goes to the folder backups beside
the store, with the time in its name. The path of the file is printed on stdout.
To go back to a copy, use skein restore-backup.

skein also makes a backup once a day by itself, if the store has changed and the
disk has room. It keeps the newest 3, or as many as the setting backups says.
Programs that run for long make the backup themselves; after short commands a
background process does. --due makes this daily backup now, if it is due.`,
		Args: job.Words(0, 1, "one FILE"),
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, args []string) error {
			j.Detached = due
			k, err := keeper(j)
			if err != nil {
				return err
			}
			if due && len(args) > 0 {
				return fault.Usage("skein backup --due takes no FILE: %q", args[0])
			}
			var path string
			if due {
				path, err = roll(ctx, j, k)
			} else {
				path, err = backup(ctx, j, k, args)
			}
			if err != nil || path == "" {
				return err
			}
			if json {
				return job.WriteJSON(j.Stdout, map[string]string{"path": path})
			}
			_, err = fmt.Fprintln(j.Stdout, path)
			return err
		}),
	}
	c.Flags().BoolVar(&due, "due", false, "make the daily backup now, if it is due")
	job.JSONFlag(c, &json)
	return c
}

// backup makes a backup, at args[0] if given, and returns its path.
func backup(ctx context.Context, j *job.Job, k inspect.Backups, args []string) (string, error) {
	path := backupPath(j, "backup")
	if len(args) > 0 {
		path = args[0]
	}
	path, err := j.Absolute(path)
	if err != nil {
		return "", err
	}
	if err := job.Free(path); err != nil && len(args) > 0 {
		return "", err
	}
	return path, k.Backup(ctx, path)
}

// NewRestoreBackup returns the command restore-backup.
func NewRestoreBackup(f *job.Frame) *cobra.Command {
	var json bool
	var o job.Consent
	c := &cobra.Command{
		Use:   "restore-backup [FILE]",
		Short: "restore the whole store from a backup, or list the backups",
		Long: `Replace the whole store with a backup. Without FILE, list all backups: when and
why each was made, its size, and whether its file is gone. The current store is
first copied to the folder backups beside the store, so you can undo this the
same way. Other programs that use the store continue with the restored data. If
FILE is not a complete backup, nothing changes. restore-backup asks for
confirmation on the terminal, or needs --yes.`,
		Args: job.Words(0, 1, "the FILE that skein backup wrote"),
		RunE: f.WithStore(func(ctx context.Context, j *job.Job, args []string) error {
			k, err := keeper(j)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listCopies(ctx, j, k, json)
			}
			path, err := j.Absolute(args[0])
			if err != nil {
				return err
			}
			kept := backupPath(j, "before-restore")
			if ok, err := o.Given(ctx, j, func() (job.Destruction, error) { return putBack(ctx, j, path, kept) }); !ok {
				return err
			}
			if err := k.RestoreBackup(ctx, path, kept); err != nil {
				return notRestored(j, path, err)
			}
			if json {
				return job.WriteJSON(j.Stdout, map[string]string{"restored": path, "kept": kept})
			}
			j.Say("restored the store from %s\nto undo that: skein restore-backup %s", j.Tilde(path), j.Tilde(kept))
			return nil
		}),
	}
	o.Flags(c)
	f.WideFlag(c)
	job.JSONFlag(c, &json)
	return c
}

// putBack says what is lost from the store if the backup at path replaces it.
func putBack(ctx context.Context, j *job.Job, path, kept string) (job.Destruction, error) {
	switch st, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return job.Destruction{}, notRestored(j, path, skein.ErrNotFound)
	case err == nil && (!st.Mode().IsRegular() || job.IsText(path)):
		return job.Destruction{}, fault.Advise(fault.Usage("%s is not a backup of a store", j.Tilde(path)), "nothing was changed; name a file that skein backup wrote")
	}
	var all []skein.Session
	for _, bin := range []bool{false, true} {
		found, err := sessions.Matching(ctx, j, skein.Filter{Bin: bin, IncludeEmpty: true})
		if err != nil {
			return job.Destruction{}, err
		}
		all = append(all, found...)
	}
	line := fmt.Sprintf("the store %s: %s", j.Tilde(j.Place.Path), terminal.Count(len(all), "session"))
	if len(all) > 0 {
		line += fmt.Sprintf(", the latest %s %q", sessions.ShortID(all[0].ID), sessions.Called(all[0]))
	}
	return job.Destruction{
		Lines:    []string{line, "first, a copy of it is made: " + j.Tilde(kept)},
		Question: "Replace the store with the backup " + j.Tilde(path) + "?",
		Would:    "the store would be replaced with the backup " + j.Tilde(path),
	}, nil
}

// notRestored adds to err what to do about it.
func notRestored(j *job.Job, path string, err error) error {
	switch {
	case sessions.Gone(err):
		return fault.Advise(fault.Missing("there is no file %s", path), "see the backups: skein restore-backup")
	case errors.Is(err, skein.ErrInvalid), errors.Is(err, skein.ErrCorrupt):
		return fault.Advise(err, "nothing was changed; name a file that skein backup wrote")
	}
	return err
}

// keeper returns the store as one that can be backed up.
func keeper(j *job.Job) (inspect.Backups, error) {
	k, ok := skein.PartOf[inspect.Backups](j.Store)
	if !ok {
		err := fmt.Errorf("the store %s is not a file that can be copied", j.Place)
		switch {
		case config.IsDatabase(j.Place.Scheme):
			err = fault.Advise(err, "copy it with the database's own program: pg_dump, or into a file: skein convert postgres://… sqlite:FILE")
		case j.Place.File() == "":
			err = fault.Advise(err, "run the command on the server's machine")
		}
		return nil, err
	}
	return k, nil
}

// backupPath returns a file name for a copy that is made now.
func backupPath(j *job.Job, what string) string {
	return filepath.Join(j.Backups(), what+"-"+j.Now().UTC().Format("20060102T150405.000Z")+".db")
}
