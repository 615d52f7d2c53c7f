package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/importer"
)

// pollShare is how much longer than a poll the time until the next one is, where the
// system reports changes: what is at rest costs at most a thousandth of a core.
const pollShare = 1000

// warmFiles is how many readers a watch makes ready before their files grow.
const warmFiles = maxLive

// Watch imports and then keeps importing what other programs append, until ctx
// ends; it returns nil then. each is called with the report of the first import,
// and after every change with the report of that; it may be nil. Torn last
// lines wait until they are whole, or have not changed for half a minute. A path
// that does not exist is waited for, and imported when it appears.
//
// Errors are those of [importer.Import], and the system's if it has no watches left.
func Watch(ctx context.Context, s skein.Store, formats []interop.Format, paths []string, o interop.Options, each func(interop.Report)) (err error) {
	defer skein.Wrapf(&err, "watch")
	w := &watch{each: each, lives: liveSet{}, folders: map[string]bool{}, dirty: map[string]bool{}, rest: map[string]time.Time{}, later: map[string]time.Time{}, told: map[string]bool{}, again: time.NewTimer(discover.PollEvery)}
	defer w.again.Stop()
	if w.fs, err = fsnotify.NewWatcher(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.fs.Close()) }()
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		w.asked = append(w.asked, abs)
	}
	w.hear(o.News)
	if w.im, err = importer.NewPipeline(ctx, s, formats, o, &discover.Reporting{Report: &w.rep}); err == nil {
		w.im.Consumer.Watcher, w.named = w, o.Named
		err = w.run(ctx)
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// A watch is one call of Watch.
type watch struct {
	im      *importer.Pipeline
	fs      *fsnotify.Watcher
	asked   []string // the paths to be watched
	roots   []string // those of them that exist, without links
	missing missing  // those that do not
	each    func(interop.Report)
	rep     interop.Report
	named   bool // see Options
	lives   liveSet
	folders map[string]bool
	blind   bool // the system does not report the changes in some folder
	dirty   map[string]bool
	rest    map[string]time.Time // by unit: not to be looked at before
	later   map[string]time.Time // by file: to be looked at then, if it has not changed before
	told    map[string]bool      // kinds of skips that were already reported
	again   *time.Timer          // when what rests is to be looked at
	lost    time.Time            // when to look for what is gone; zero if nothing is
	board   string               // the folder of the news of hooks; "" for none
}

func (w *watch) run(ctx context.Context) error {
	if err := w.appear(); err != nil {
		return err
	}
	clear(w.dirty) // the first import reads everything
	if err := w.first(ctx); err != nil {
		return err
	}
	warm := w.im.Known.Newest(warmFiles)
	tick := time.NewTimer(discover.PollEvery)
	defer tick.Stop()
	idle := make(chan struct{})
	close(idle)
	for {
		ready := idle
		if len(warm) == 0 {
			ready = nil
		}
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-w.fs.Events:
			if !ok {
				return errors.New("the system stopped watching the folder")
			}
			w.note(e)
			w.drain()
			if w.missing.changed {
				_ = w.appear() // a path that must not be read now may become readable later
			}
			if len(w.dirty) > 0 {
				err = w.takeDirty(ctx)
			}
		case _, ok := <-w.fs.Errors: // events were lost: look at everything
			if !ok {
				return errors.New("the system stopped watching the folder")
			}
			err = w.poll(ctx)
		case <-w.again.C:
			err = w.takeDirty(ctx)
		case <-tick.C:
			start := time.Now()
			err = w.poll(ctx)
			tick.Reset(w.pollAfter(time.Since(start)))
		case <-ready:
			err = w.warm(ctx, warm[0])
			warm = warm[1:]
		}
		if err != nil {
			return err
		}
	}
}

// pollAfter returns how long to wait after a poll that took some time.
func (w *watch) pollAfter(took time.Duration) time.Duration {
	if w.blind {
		return discover.PollEvery
	}
	return max(discover.PollEvery, pollShare*took)
}

// first imports everything that exists.
func (w *watch) first(ctx context.Context) error {
	start := time.Now()
	w.awaited()
	found, err := disk.Walk(ctx, w.roots, &w.rep)
	if err == nil {
		err = w.im.Import(ctx, found, discover.IsMoving, w.roots)
	}
	if err == nil {
		err = w.im.PlaceApart(ctx)
	}
	if err == nil {
		err = w.im.MarkGone(ctx, found, w.roots)
	}
	w.rep.Elapsed = time.Since(start)
	w.wake()
	for _, s := range w.rep.Skips {
		w.told[kindOf(s)] = true
	}
	if err == nil && w.each != nil {
		w.each(w.rep)
	}
	w.rep = interop.Report{}
	return err
}

// awaited reports the paths that the user named and that do not exist yet.
func (w *watch) awaited() {
	for _, p := range w.asked {
		if _, err := os.Stat(p); w.named && disk.IsMissing(err) {
			w.rep.AddFailure(p, discover.ErrAwaited)
		}
	}
}

// takeAll reads what is new in files. roots is where the files were found, if that is
// all of them.
func (w *watch) takeAll(ctx context.Context, found []disk.File, roots []string) error {
	start := time.Now()
	files, units := w.im.Planner.Gather(found, roots)
	for _, c := range files {
		if err := w.take(ctx, c); err != nil {
			return err
		}
	}
	if err := w.takeUnits(ctx, units); err != nil {
		return err
	}
	w.wake()
	if err := w.im.Rereader.RereadAll(ctx); err != nil {
		return err
	}
	if err := w.im.PlaceApart(ctx); err != nil {
		return err
	}
	if roots != nil || w.im.Known.WasGone(found) || !w.lost.IsZero() && time.Now().After(w.lost) {
		w.lost = time.Time{}
		if err := w.im.MarkGone(ctx, found, w.roots); err != nil {
			return err
		}
	}
	w.rep.Elapsed = time.Since(start)
	w.tellOnce()
	if w.each != nil && (w.rep.Events > 0 || w.rep.Gone+w.rep.Back > 0 || w.rep.Bytes > 0 || w.rep.Damaged > 0 || w.rep.Skipped > 0) {
		w.each(w.rep)
	}
	w.rep = interop.Report{}
	return nil
}

// tellOnce removes from the report what was already reported as skipped.
func (w *watch) tellOnce() {
	w.rep.Skips = slices.DeleteFunc(w.rep.Skips, func(s interop.Skip) bool {
		told := w.told[kindOf(s)]
		w.told[kindOf(s)] = true
		return told
	})
	w.rep.Skipped = len(w.rep.Skips)
}

// kind returns what two skips have in common if only one of them needs to be reported:
// the file and the reason, without any numbers in it.
func kindOf(s interop.Skip) string {
	return s.Path + "\x00" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s.Why)
}

// take reads what is new in one file.
func (w *watch) take(ctx context.Context, c disk.File) error {
	if l := w.lives[c.Path]; l != nil {
		l.t.Job.Patient = discover.IsMoving(c)
		if done, err := l.update(ctx, w.im.Consumer, c); done || err != nil {
			return err
		}
		delete(w.lives, c.Path)
	}
	var p interop.Progress
	for _, pl := range w.im.Planner.PlanFiles([]disk.File{c}, discover.IsMoving, &p) {
		if err := w.takeOne(ctx, pl); err != nil {
			return err
		}
	}
	return nil
}

// takeOne reads what is new in one file or unit.
func (w *watch) takeOne(ctx context.Context, pl discover.Planned) error {
	if pl.Format.Load != nil {
		return w.im.Wholes.LoadAll(ctx, []discover.Planned{pl})
	}
	return w.im.Read(ctx, pl)
}

// Put keeps the reader of a file that was read to its end.
func (w *watch) Put(t *importer.Target) { w.lives.put(t) }

// restFor is the shortest time between two looks at a unit that is watched. If a look
// takes longer, the unit rests for twice as long as it took.
const restFor = 100 * time.Millisecond

// takeUnits reads what is new in units.
func (w *watch) takeUnits(ctx context.Context, units []discover.UnitFound) error {
	for _, u := range units {
		var p interop.Progress
		for _, pl := range w.im.Planner.PlanUnits([]discover.UnitFound{u}, &p) {
			start := time.Now()
			if err := w.takeOne(ctx, pl); err != nil {
				return err
			}
			w.rest[u.Path] = time.Now().Add(max(restFor, 2*time.Since(start)))
		}
	}
	for _, c := range slices.Concat(w.im.Planner.TakeFallen()...) {
		if err := w.take(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// warm prepares the reader of a file.
func (w *watch) warm(ctx context.Context, path string) error {
	known := w.im.Known.Files[path]
	c, ok := disk.Look(path)
	f := w.im.Known.Formats.Format(known.Format)
	if !ok || f == nil || f.Load != nil || f.Look != nil || w.lives[path] != nil || !known.Unchanged(c) {
		return nil
	}
	return w.takeOne(ctx, discover.Planned{Format: f, Now: c, Patient: true, Was: &known})
}

// poll looks at everything.
func (w *watch) poll(ctx context.Context) error {
	_, _ = w.find() // a path that must not be read now may become readable later
	found, err := disk.Walk(ctx, w.roots, &w.rep)
	if disk.IsMissing(err) { // a root disappeared just now
		w.missing.changed, err = true, nil
	}
	if err != nil {
		return err
	}
	for _, p := range w.roots {
		w.add(p)
	}
	clear(w.dirty)
	return w.takeAll(ctx, found, w.roots)
}
