package interop

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/skein-dev/skein"
)

// An importer is one run of Import, or a Watch.
type importer struct {
	store    skein.Store
	formats  formatList
	opts     Options
	rep      *Report
	known    *knownFiles
	planner  *planner
	producer *producer
	rereader *rereader
	parents  *parents
	wholes   *wholes

	named   []string            // the files that the user named
	torn    func(candidate)     // called with a unit that is being written; may be nil
	adopts  map[string]adoption // by path in the store: what a source was just given
	ours    string              // path in the store of the source that a sync is writing to, if this import is the sync's
	oursErr error               // why that source could not be imported
	soon    func(string)        // called with the path of what is to be read again soon; may be nil
	taken   func(*target)       // called when a file has been read to its end; may be nil
}

// Import adds what is new in the files at and under paths to the store.
// Repeating it adds nothing; if a file has grown, only its new records are added.
// It may be stopped at any moment, and may run while other programs write the
// files and while other imports run.
//
// Problems with single paths, files, records and sessions are in the report, not
// in the error: one that cannot be imported does not affect the others, and the
// next import tries it again. Errors are ctx's, those of a store that has stopped
// responding and, if none of the paths exists, that of the last (it wraps
// [fs.ErrNotExist]); the report then says what was done before.
func Import(ctx context.Context, s skein.Store, formats []Format, paths []string, o Options) (rep Report, err error) {
	defer skein.Wrapf(&err, "import")
	start := time.Now()
	defer func() { rep.Elapsed = time.Since(start) }()
	im, err := newImporter(ctx, s, formats, o, &rep)
	if err != nil {
		return rep, err
	}
	found, err := walk(ctx, paths, &rep)
	if err == nil && o.Named {
		err = im.name(ctx, paths)
	}
	if err == nil {
		err = im.importAll(ctx, found, still, paths)
	}
	if err == nil {
		err = im.placeApart(ctx)
	}
	if err == nil {
		err = im.barren(ctx)
	}
	return rep, err
}

func newImporter(ctx context.Context, s skein.Store, formats []Format, o Options, rep *Report) (*importer, error) {
	im := &importer{
		store: s, formats: formats, opts: o, rep: rep,
		known: &knownFiles{store: s, formats: formats, files: map[string]knownFile{}, sessions: newPathsBy(), others: newPathsBy()},
	}
	im.planner, im.producer = &planner{im: im, strange: map[string]candidate{}}, &producer{im}
	im.parents, im.wholes = &parents{im: im}, &wholes{im}
	im.rereader = &rereader{im: im, again: map[skein.SessionID]bool{}, rereads: map[string]int{}}
	for f, err := range skein.SourcesOf(s).Files(ctx, "") {
		if err != nil {
			return nil, err
		}
		im.known.keep(f)
	}
	return im, nil
}

func (im *importer) importAll(ctx context.Context, found []candidate, moving func(candidate) bool, roots []string) error {
	if err := im.rereader.rereadAll(ctx); err != nil { // left over from an earlier import
		return err
	}
	works, p := im.planner.plan(found, moving, roots...)
	works, whole := apartWhole(works)
	if err := im.importEach(ctx, works, p); err != nil {
		return err
	}
	works, p = im.planner.planFallen(moving)
	works, more := apartWhole(works)
	if err := im.importEach(ctx, works, p); err != nil {
		return err
	}
	if err := im.rereader.turnAll(ctx, found); err != nil {
		return err
	}
	if err := im.rereader.rereadAll(ctx); err != nil {
		return err
	}
	return im.wholes.loadAll(ctx, append(whole, more...))
}

// importEach reads files on one goroutine and appends their contents on
// another.
func (im *importer) importEach(ctx context.Context, works []planned, p Progress) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks, done := make(chan chunk, 4), make(chan error, 1)
	go func() {
		defer close(chunks)
		done <- im.producer.produceAll(ctx, works, func(c chunk) error {
			if c.bytes > bigChunk {
				c.taken = make(chan struct{})
			}
			select {
			case chunks <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
			if c.taken == nil {
				return nil
			}
			select {
			case <-c.taken:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	err := im.consume(ctx, chunks, p)
	cancel()
	for range chunks { // until the other goroutine has ended
	}
	return errors.Join(err, ignoreCancel(<-done, err))
}

// ignoreCancel drops a cancellation that only results from an earlier error.
func ignoreCancel(err, first error) error {
	if first != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// A producer reads files, units and the side files beside them, and hands what they
// hold to a sink in chunks.
type producer struct{ im *importer }

// produceAll reads the files one after the other. Its errors are sink's.
func (pr *producer) produceAll(ctx context.Context, works []planned, sink func(chunk) error) error {
	for _, pl := range works {
		w, err := pr.im.workOf(ctx, pl)
		switch {
		case err != nil:
			err = sink(chunk{w: w, end: true, failed: err})
		case w.unit != nil:
			err = pr.produceUnit(ctx, w, sink)
		default:
			err = pr.produce(ctx, w.begin(), sink)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (pr *producer) produce(ctx context.Context, w *work, sink func(chunk) error) (err error) {
	if known, err := pr.beside(ctx, w, sink); !known || err != nil {
		return err
	}
	given, adopts := pr.im.adopts[w.now.path]
	if adopts {
		w.state.Echoes, w.state.Intent = given.echoes, given.intent
	} else if adopts, err = pr.im.recoverIntent(ctx, w); err != nil {
		return sink(chunk{w: w, end: true, err: err})
	}
	err = w.produce(ctx, sink)
	for errors.Is(err, errRestart) {
		next, err2 := rewritten(ctx, pr.im.store, w)
		if err2 != nil {
			return sink(chunk{w: w, end: true, err: err2})
		}
		if adopts { // we took out what is gone, and the session says so itself
			next.state.Removed, next.state.Shrunk = nil, nil
		}
		w, err = next, next.produce(ctx, sink)
	}
	return err
}

// consume stores the chunks.
func (im *importer) consume(ctx context.Context, chunks <-chan chunk, p Progress) error {
	var t *target
	for c := range chunks {
		if t == nil || t.w != c.w {
			t = newTarget(im, c.w)
		}
		if err := im.takeChunk(ctx, t, c); err != nil {
			return err
		}
		if c.taken != nil {
			close(c.taken)
		}
		p.Path = t.file.Path
		p.Bytes += c.bytes
		if c.end {
			if t.w.name == "" { // a unit counts as one, with all its sources
				p.Files++
			}
			if im.taken != nil {
				im.taken(t)
			}
		}
		if im.opts.Progress != nil {
			im.opts.Progress(p)
		}
	}
	return ctx.Err()
}

// takeChunk stores a chunk, and at the end of its file adds the outcome to the
// report. It returns only errors that would affect the next file too.
func (im *importer) takeChunk(ctx context.Context, t *target, c chunk) error {
	if c.torn && im.torn != nil { // it will be looked at again
		im.torn(c.w.now)
		return nil
	}
	fail := im.rep.partly
	if c.torn {
		fail = im.rep.fail
	}
	im.skips(c.skips, fail)
	if c.took != nil {
		im.wholes.took(*c.took)
		return nil
	}
	if errors.Is(c.err, errTaken) {
		im.waits(t)
		t.w.dead.Store(true)
		return nil
	}
	switch {
	case t.w.dead.Load(), len(c.skips) > 0:
		return nil
	case c.failed != nil:
		t.dies()
		return im.fails(ctx, t.file.Path, c.failed)
	case c.other:
		im.rep.Files--
		im.planner.strange[c.w.now.path] = c.w.now
		im.planner.fallen = append(im.planner.fallen, c.w.unit.files)
		return nil
	}
	err := t.takeAll(ctx, c)
	switch {
	case err == nil && c.end:
		err = flusher{t}.finish(ctx, c.err)
	case err == nil && (t.bytes >= chunkBytes || len(t.records) >= chunkRecords):
		err = flusher{t}.flush(ctx)
	}
	switch {
	case err == nil && c.err != nil && t.w.packed && t.w.patient && errors.Is(c.err, io.ErrUnexpectedEOF): // it is being written
	case err == nil && c.err != nil && ctx.Err() == nil:
		im.rep.fail(t.file.Path, c.err)
	case errors.Is(err, skein.ErrDeleted):
		im.leaves(t.file.Path, &im.rep.Removed, errDestroyed)
	case errors.Is(err, errTaken):
		im.waits(t)
	case errors.Is(err, errOriginal): // it is read once its copies are out of the way
	case errors.Is(err, skein.ErrLocked):
		im.leaves(t.file.Path, &im.rep.Waiting, errLocked)
	case err != nil:
		t.dies()
		return im.fails(ctx, t.file.Path, err)
	}
	t.w.dead.Store(err != nil)
	if t.w.unit != nil && (c.err != nil || err != nil && !errors.Is(err, skein.ErrDeleted)) {
		t.w.unit.left.Store(true)
	}
	return nil
}

// dies stops reading the source. Its unit counts as changed, so that the next
// import reads it again.
func (t *target) dies() {
	t.w.dead.Store(true)
	if t.w.unit != nil {
		t.w.unit.left.Store(true)
	}
}
