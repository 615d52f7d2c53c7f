package job

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/store/inspect"
)

// Backups are made automatically. A command that has the store open for long makes
// one itself, beside its work. Other commands end too soon to copy a large store,
// and nobody should wait for that: they start a separate process, which runs on
// after the command has ended. Copying a slice with each command would not do:
// writes in between make the copy start over.
const (
	rollFirst = 10 * time.Second // after the store was opened
	rollLook  = 15 * time.Minute // how often to check whether a backup is due
)

// Keeps returns how many automatic backups are kept.
func (j *Job) Keeps() int {
	n, _ := strconv.Atoi(j.Settings.Text("backups")) //nolint:errcheck // it was read as a number
	return n
}

// rolling makes backups while a command has the store open. stop ends that and
// waits; if a backup is still due, it starts a separate process.
func (j *Job) rolling(ctx context.Context) (stop func()) {
	k, ok := skein.PartOf[inspect.Backups](j.Whole)
	if !ok || j.Keeps() < 1 || j.Detach == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for look := time.NewTimer(rollFirst); ; look.Reset(rollLook) {
			select {
			case <-look.C:
			case <-ctx.Done():
				look.Stop()
				return
			}
			if due, err := k.Due(ctx, j.Keeps()); err == nil && due {
				_, _ = k.Roll(ctx, j.Keeps()) //nolint:errcheck // doctor says how old the newest is
			}
		}
	}()
	return func() {
		cancel()
		<-done
		if j.Detached {
			return
		}
		if due, err := k.Due(context.WithoutCancel(ctx), j.Keeps()); err == nil && due {
			_ = j.Detach(config.Detached{Args: []string{"--store", j.Place.Path, "backup", "--due"}}) //nolint:errcheck // the next command tries again
		}
	}
}

// A backupLook checks the age of the newest backup. It is an [inspect.Examiner].
type backupLook struct {
	j *Job
	k inspect.Backups
}

// BackupLook returns the check of the store's backups; nil if the store does not
// make any.
func (j *Job) BackupLook() inspect.Examiner {
	k, ok := skein.PartOf[inspect.Backups](j.Whole)
	if !ok {
		return nil
	}
	return backupLook{j, k}
}

// backupsLate is how old the newest backup may be if the store has changed since.
const backupsLate = 3 * 24 * time.Hour

// Examine implements [inspect.Examiner].
func (b backupLook) Examine(ctx context.Context, _ inspect.Examination) iter.Seq2[inspect.Finding, error] {
	return func(yield func(inspect.Finding, error) bool) {
		f, err := b.look(ctx)
		if errors.Is(err, skein.ErrCorrupt) {
			return // the store's own examination reports it
		}
		if err != nil {
			err = fmt.Errorf("backups: %w", err)
		}
		yield(f, err)
	}
}

func (b backupLook) look(ctx context.Context) (inspect.Finding, error) {
	f := inspect.Finding{Area: "backups", Level: inspect.Fine}
	all, err := b.k.Copies(ctx)
	if err != nil {
		return f, err
	}
	newest := inspect.Copy{}
	for _, c := range all { // the newest is first
		if !c.Gone && newest.Path == "" && (c.Kind == inspect.BackupCopy || c.Kind == inspect.RollingCopy) {
			newest = c
		}
	}
	due, err := b.k.Due(ctx, b.j.Keeps())
	old := newest.Path != "" && b.j.Now().Sub(newest.Made.Std()) > backupsLate
	switch {
	case newest.Path == "":
		f.Text = "there is no backup yet"
	default:
		f.Text = fmt.Sprintf("the newest backup was made %s: %s", terminal.Ago(newest.Made, b.j.Now()), newest.Path)
	}
	switch {
	case err != nil:
		f.Level = inspect.Warning
		f.Text += fmt.Sprintf("; %s; make one elsewhere: skein backup FILE", fault.Sentence(err))
	case b.j.Keeps() < 1:
		f.Text += "; daily backups are off: backups = 0"
	case due && old:
		f.Level = inspect.Warning
		f.Text += "; make one: skein backup"
	case due:
		f.Text += "; a backup is due and will be made"
	}
	return f, nil
}
