package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
)

func newBackup(f *frame) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:   "backup [FILE]",
		Short: "copy the whole store to a file",
		Long: `Copy the whole store, as it is at one moment, to a new file, also while others
write to it. Without FILE that is one with the time in its name in the folder
backups beside the store. The file's path goes to stdout.`,
		Args: words(0, 1, "one FILE"),
		RunE: f.withStore(func(ctx context.Context, j *job, args []string) error {
			path := j.backupPath("backup")
			if len(args) > 0 {
				path = args[0]
			}
			path, err := j.absolute(path)
			if err != nil {
				return err
			}
			k, err := j.keeper()
			if err != nil {
				return err
			}
			if err := k.Backup(ctx, path); err != nil {
				return err
			}
			if json {
				return writeJSON(j.Stdout, map[string]string{"path": path})
			}
			_, err = fmt.Fprintln(j.Stdout, path)
			return err
		}),
	}
	jsonFlag(c, &json)
	return c
}

func newRestoreBackup(f *frame) *cobra.Command {
	return &cobra.Command{
		Use:   "restore-backup FILE",
		Short: "put the whole store back to a backup",
		Long: `Put the whole store back to what skein backup wrote. What is there now is first
copied to the folder backups beside the store, so this can be undone the same
way. Other programs that use the store go on with what was restored.`,
		Args: words(1, 1, "the FILE that skein backup wrote"),
		RunE: f.withStore(func(ctx context.Context, j *job, args []string) error {
			path, err := j.absolute(args[0])
			if err != nil {
				return err
			}
			k, err := j.keeper()
			if err != nil {
				return err
			}
			kept := j.backupPath("before-restore")
			if err := k.RestoreBackup(ctx, path, kept); err != nil {
				return err
			}
			j.say("restored %s; what was there before is in %s", path, kept)
			return nil
		}),
	}
}

// keeper returns the store as one that can be copied.
func (j *job) keeper() (skein.Keeper, error) {
	k, ok := j.store.(skein.Keeper)
	if !ok {
		return nil, fmt.Errorf("the store %s is no file that can be copied", j.place.Path)
	}
	return k, nil
}

// backupPath returns a name for a copy that is made now.
func (j *job) backupPath(what string) string {
	name := what + "-" + j.Now().UTC().Format("20060102T150405.000Z") + ".db"
	return filepath.Join(filepath.Dir(j.place.Path), "backups", name)
}

// absolute returns path, taken from the directory the person is in.
func (j *job) absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	cwd, err := j.Getwd()
	return filepath.Join(cwd, path), err
}
