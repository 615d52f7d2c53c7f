package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
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

// keeps returns how many automatic backups are kept.
func (j *job) keeps() int {
	n, _ := strconv.Atoi(j.settings.text("backups")) //nolint:errcheck // it was read as a number
	return n
}

// rolling makes backups while a command has the store open. stop ends that and
// waits; if a backup is still due, it starts a separate process.
func (j *job) rolling(ctx context.Context) (stop func()) {
	k, ok := skein.PartOf[inspect.Backups](j.whole)
	if !ok || j.keeps() < 1 || j.Detach == nil {
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
			if due, err := k.Due(ctx, j.keeps()); err == nil && due {
				_, _ = k.Roll(ctx, j.keeps()) //nolint:errcheck // doctor says how old the newest is
			}
		}
	}()
	return func() {
		cancel()
		<-done
		if j.detached {
			return
		}
		if due, err := k.Due(context.WithoutCancel(ctx), j.keeps()); err == nil && due {
			_ = j.Detach("--store", j.place.Path, "backup", "--due") //nolint:errcheck // the next command tries again
		}
	}
}

// roll makes a backup if one is due.
func (j *job) roll(ctx context.Context, k inspect.Backups) (path string, err error) {
	if due, err := k.Due(ctx, j.keeps()); err != nil || !due {
		return "", err
	}
	return k.Roll(ctx, j.keeps())
}

// listCopies prints the backups that the store can be restored to, the newest
// first.
func (j *job) listCopies(ctx context.Context, k inspect.Backups, asJSON bool) error {
	all, err := k.Copies(ctx)
	if err != nil {
		return err
	}
	t := &table{columns: []column{{title: "MADE"}, {title: "WHY", rank: 1}, {title: "SIZE", right: true, rank: 2}, {title: "FILE"}}}
	for _, c := range all {
		if asJSON {
			if err := writeJSON(j.Stdout, c); err != nil {
				return err
			}
			continue
		}
		size := bytesText(c.Size)
		if c.Gone {
			size = "gone"
		}
		t.rows = append(t.rows, []string{stamp(c.Made, j.Now()), string(c.Kind), size, render.Line(j.tilde(c.Path))})
	}
	switch {
	case asJSON:
		return nil
	case len(all) == 0:
		j.say("the store was never copied; make a backup: skein backup")
		return nil
	}
	if err := j.table(j.Stdout, t); err != nil {
		return err
	}
	j.say("put the store back to one: skein restore-backup FILE")
	return nil
}

// A backupLook checks the age of the newest backup. It is an [inspect.Examiner].
type backupLook struct {
	j *job
	k inspect.Backups
}

// backupLook returns the check of the store's backups; nil if the store does not
// make any.
func (j *job) backupLook() inspect.Examiner {
	k, ok := skein.PartOf[inspect.Backups](j.whole)
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
	due, err := b.k.Due(ctx, b.j.keeps())
	old := newest.Path != "" && b.j.Now().Sub(newest.Made.Std()) > backupsLate
	switch {
	case newest.Path == "":
		f.Text = "there is no backup yet"
	default:
		f.Text = fmt.Sprintf("the newest backup was made %s: %s", ago(newest.Made, b.j.Now()), newest.Path)
	}
	switch {
	case err != nil:
		f.Level = inspect.Warning
		f.Text += fmt.Sprintf("; %s; make one elsewhere: skein backup FILE", sentence(err))
	case b.j.keeps() < 1:
		f.Text += "; backups = 0: none is made unasked"
	case due && old:
		f.Level = inspect.Warning
		f.Text += "; make one: skein backup"
	case due:
		f.Text += "; one is due and will be made"
	}
	return f, nil
}
