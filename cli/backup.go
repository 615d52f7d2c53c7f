package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
)

func newBackup(f *frame) *cobra.Command {
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
		Args: words(0, 1, "one FILE"),
		RunE: f.withStore(func(ctx context.Context, j *job, args []string) error {
			j.detached = due
			k, err := j.keeper()
			if err != nil {
				return err
			}
			if due && len(args) > 0 {
				return usagef("skein backup --due takes no FILE: %q", args[0])
			}
			var path string
			if due {
				path, err = j.roll(ctx, k)
			} else {
				path, err = j.backup(ctx, k, args)
			}
			if err != nil || path == "" {
				return err
			}
			if json {
				return writeJSON(j.Stdout, map[string]string{"path": path})
			}
			_, err = fmt.Fprintln(j.Stdout, path)
			return err
		}),
	}
	c.Flags().BoolVar(&due, "due", false, "make the daily backup now, if it is due")
	jsonFlag(c, &json)
	return c
}

// backup makes a backup, at args[0] if given, and returns its path.
func (j *job) backup(ctx context.Context, k inspect.Backups, args []string) (string, error) {
	path := j.backupPath("backup")
	if len(args) > 0 {
		path = args[0]
	}
	path, err := j.absolute(path)
	if err != nil {
		return "", err
	}
	if err := free(path); err != nil && len(args) > 0 {
		return "", err
	}
	return path, k.Backup(ctx, path)
}

func newRestoreBackup(f *frame) *cobra.Command {
	var json bool
	var o consent
	c := &cobra.Command{
		Use:   "restore-backup [FILE]",
		Short: "restore the whole store from a backup, or list the backups",
		Long: `Replace the whole store with a backup. Without FILE, list all backups: when and
why each was made, its size, and whether its file is gone. The current store is
first copied to the folder backups beside the store, so you can undo this the
same way. Other programs that use the store continue with the restored data. If
FILE is not a complete backup, nothing changes. restore-backup asks for
confirmation on the terminal, or needs --yes.`,
		Args: words(0, 1, "the FILE that skein backup wrote"),
		RunE: f.withStore(func(ctx context.Context, j *job, args []string) error {
			k, err := j.keeper()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return j.listCopies(ctx, k, json)
			}
			path, err := j.absolute(args[0])
			if err != nil {
				return err
			}
			kept := j.backupPath("before-restore")
			if ok, err := o.given(ctx, j, func() (loss, error) { return j.putBack(ctx, path, kept) }); !ok {
				return err
			}
			if err := k.RestoreBackup(ctx, path, kept); err != nil {
				return notRestored(j, path, err)
			}
			if json {
				return writeJSON(j.Stdout, map[string]string{"restored": path, "kept": kept})
			}
			j.say("the store is as %s has it\nto undo that: skein restore-backup %s", j.tilde(path), j.tilde(kept))
			return nil
		}),
	}
	o.flags(c)
	f.wideFlag(c)
	jsonFlag(c, &json)
	return c
}

// putBack says what is lost from the store if the backup at path replaces it.
func (j *job) putBack(ctx context.Context, path, kept string) (loss, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return loss{}, notRestored(j, path, skein.ErrNotFound)
	}
	var all []skein.Session
	for _, bin := range []bool{false, true} {
		found, err := j.sessions(ctx, skein.Filter{Bin: bin, IncludeEmpty: true})
		if err != nil {
			return loss{}, err
		}
		all = append(all, found...)
	}
	line := fmt.Sprintf("the store %s: %s", j.tilde(j.place.Path), count(len(all), "session"))
	if len(all) > 0 {
		line += fmt.Sprintf(", the latest %s %q", shortID(all[0].ID), called(all[0]))
	}
	return loss{
		[]string{line, "a copy of it is kept: " + j.tilde(kept)},
		"Put it back to what " + j.tilde(path) + " has?",
		"it would be put back to what " + j.tilde(path) + " has",
	}, nil
}

// notRestored adds to err what to do about it.
func notRestored(j *job, path string, err error) error {
	switch {
	case gone(err):
		return advise(missing("there is no file %s", path), "see the backups: skein restore-backup")
	case errors.Is(err, skein.ErrInvalid), errors.Is(err, skein.ErrCorrupt):
		return advise(err, "nothing was changed; name a file that skein backup wrote")
	}
	return err
}

// keeper returns the store as one that can be backed up.
func (j *job) keeper() (inspect.Backups, error) {
	k, ok := skein.PartOf[inspect.Backups](j.store)
	if !ok {
		err := fmt.Errorf("the store %s is no file that can be copied", j.place)
		switch {
		case isDatabase(j.place.Scheme):
			err = advise(err, "copy it with the database's own program: pg_dump, or into a file: skein convert postgres://… sqlite:FILE")
		case j.place.file() == "":
			err = advise(err, "run the command where the server is")
		}
		return nil, err
	}
	return k, nil
}

// backups returns the folder for backups, which is beside the store.
func (j *job) backups() string { return filepath.Join(filepath.Dir(j.place.Path), "backups") }

// backupPath returns a file name for a copy that is made now.
func (j *job) backupPath(what string) string {
	return filepath.Join(j.backups(), what+"-"+j.Now().UTC().Format("20060102T150405.000Z")+".db")
}

// absolute returns path as an absolute path, relative to the working directory.
func (j *job) absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	cwd, err := j.Getwd()
	return filepath.Join(cwd, path), err
}
