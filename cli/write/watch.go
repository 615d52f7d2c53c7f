package write

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/notice"
	"github.com/skein-dev/skein/internal/hooknews"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/watch"
)

// board returns the board of what the hooks of agents say.
func (o *importOptions) board(j *job.Job) hooknews.Board {
	return cmp.Or(hooknews.Board(o.hooks), hooknews.At(j.Dirs.State))
}

// stay imports, and keeps importing what is new until ctx ends.
func (o *importOptions) stay(ctx context.Context, j *job.Job, fs []interop.Format, paths []string, opts interop.Options, bar *exchange.Bar) error {
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	opts.News = o.board(j)
	w := &watchReport{job: j, board: opts.News, pace: newPace(), now: hooknews.Status{PID: os.Getpid(), Since: j.Now()}}
	w.tell()
	defer w.hold(within)()
	opts.Progress = func(p interop.Progress) {
		bar.Imported(p)
		w.progress(within, p)
	}
	err := watch.Watch(within, j.Store, fs, paths, opts, func(r interop.Report) {
		tell := o.Change
		if !w.now.Ready {
			bar.End()
			tell = o.Report
		}
		if err := tell(ctx, j, r); err != nil {
			stop(err)
		}
		if !w.now.Ready {
			j.Say("watching; Ctrl-C ends it")
		}
		w.imported(r)
	})
	bar.End()
	switch {
	case err != nil:
		w.broke(err.Error())
		return err
	case ctx.Err() == nil || !w.now.Ready:
		return context.Cause(within)
	}
	return nil
}

// A watchReport says on the board how a watch gets on.
type watchReport struct {
	job   *job.Job
	board hooknews.Board
	pace  *pace
	now   hooknews.Status
	told  time.Time // when it was last said
}

// tellEvery is how often a watcher says how the first import gets on.
const tellEvery = time.Second

// tell says how the watch gets on. That it cannot is no reason to end it.
func (w *watchReport) tell() {
	w.told = w.job.Now()
	_ = w.board.SetStatus(w.now)
}

func (w *watchReport) progress(ctx context.Context, p interop.Progress) {
	if w.now.Ready {
		return
	}
	w.now.Bytes, w.now.Size = p.Bytes, p.Size
	if w.job.Now().Sub(w.told) >= tellEvery {
		w.tell()
	}
	w.pace.rest(ctx)
}

func (w *watchReport) imported(r interop.Report) {
	failed := r.Err != nil
	if r.Events > 0 || r.Bytes > 0 {
		w.now.At = w.job.Now()
	}
	first := !w.now.Ready
	w.now.Ready = true
	if first {
		debug.FreeOSMemory() // a watch may rest for days, and what the first import needed is not needed again
	}
	switch {
	case failed:
		text := r.Err.Error()
		if i := slices.IndexFunc(r.Skips, func(s interop.Skip) bool { return s.Why != "" }); i >= 0 {
			text = r.Skips[i].Path + ": " + r.Skips[i].Why
		}
		w.broke(text)
	case first, w.job.Now().Sub(w.told) >= tellEvery:
		w.tell()
	}
}

func (w *watchReport) broke(why string) {
	w.now.Broke, w.now.When = why, w.job.Now()
	w.tell()
}

// lockEvery is how often a watcher that is not the only one tries to become it.
const lockEvery = 5 * time.Second

// hold takes the lock of the board, now or when another watcher ends, so that hooks
// do not import by themselves. Who has it sends the notices. release gives it back.
func (w *watchReport) hold(ctx context.Context) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			unlock, ok, err := w.board.Lock()
			if ok {
				if channels := notice.Channels(w.job); len(channels) > 0 {
					notice.Watch(ctx, w.job, channels)
				}
				<-ctx.Done()
				_ = unlock()
				return
			}
			if err != nil || sleep.For(ctx, lockEvery) != nil {
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// takeNews imports what hooks have named, unless a watcher does: the files of the news
// since the last look and, for agents that name none, the usual places. It continues
// until there is no more news.
func (o *importOptions) takeNews(ctx context.Context, j *job.Job) error {
	b := o.board(j)
	for since := j.Now().Add(-toldFor); ; {
		unlock, ok, err := b.Lock()
		if err != nil || !ok {
			return err
		}
		since, err = o.catchUp(ctx, j, b, since)
		if err = errors.Join(err, unlock()); err != nil || ctx.Err() != nil {
			return err
		}
		if all, err := b.All(); err != nil || len(all) == 0 || !all[0].At.After(since) { // what came before the unlock started no import
			return err
		}
	}
}

// toldFor is how old news may be that is taken up: that of an import that failed.
const toldFor = time.Hour

// catchUp imports what the news after a time names, and returns the time of the newest
// that it has seen.
func (o *importOptions) catchUp(ctx context.Context, j *job.Job, b hooknews.Board, since time.Time) (time.Time, error) {
	home := exchange.Home(j)
	for ctx.Err() == nil {
		all, err := b.All()
		if err != nil || len(all) == 0 || !all[0].At.After(since) {
			return since, err
		}
		var paths []string
		for _, n := range all {
			if !n.At.After(since) {
				break
			}
			if _, err := os.Stat(n.File); n.File != "" && err == nil {
				paths = append(paths, n.File)
				continue
			}
			if i := slices.IndexFunc(exchange.All(), func(f interop.Format) bool { return f.Name == n.Agent }); i >= 0 {
				paths = append(paths, existing(exchange.All()[i].Places(home))...)
			}
		}
		since = all[0].At
		slices.Sort(paths)
		rep, err := importer.Import(ctx, j.Store, exchange.All(), slices.Compact(paths), interop.Options{Checkout: j.LookUp, All: exchange.All()})
		if err := cmp.Or(err, exchange.Failed(rep)); err != nil {
			return since, err
		}
	}
	return since, ctx.Err()
}

// existing returns those paths that exist.
func existing(paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool {
		_, err := os.Stat(p)
		return err != nil
	})
}
