package interop

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

// An importer is one run of Import, or a Watch. What is read takes one way: a planner
// picks files, a producer reads records from them, and a consumer stores these.
type importer struct {
	store    skein.Store
	known    *knownFiles
	rep      *reporting
	planner  *planner
	producer *producer
	consumer *consumer
	rereader *rereader
	wholes   *wholes
	progress func(Progress) // may be nil
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
	im, err := newImporter(ctx, s, formats, o, &reporting{Report: &rep})
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

// newImporter returns an importer that reports to rep, whose store it sets.
func newImporter(ctx context.Context, s skein.Store, formats []Format, o Options, rep *reporting) (*importer, error) {
	rep.store = s
	known, err := newKnownFiles(ctx, s, formats)
	if err != nil {
		return nil, err
	}
	im := &importer{
		store: s, known: known, rep: rep, progress: o.Progress,
		planner:  newPlanner(known, rep, o),
		producer: &producer{store: s, known: known, own: rep.own, again: o.Again},
		wholes:   &wholes{store: s, known: known, rep: rep, again: o.Again},
	}
	im.rereader = &rereader{store: s, known: known, rep: rep, all: o.Again, read: im.read, again: map[skein.SessionID]bool{}, rereads: map[string]int{}}
	im.consumer = &consumer{
		outlet: outlet{store: s, known: known, rep: rep, parents: &parents{store: s, known: known}, rereader: im.rereader},
		other:  im.planner.notUnit,
	}
	if o.Here {
		im.consumer.folders = checkouts{}
	}
	return im, nil
}

func (im *importer) importAll(ctx context.Context, found []candidate, moving func(candidate) bool, roots []string) error {
	clear(im.consumer.folders)                         // a watch continues while they change
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

// importEach reads files on one goroutine and stores their contents on another.
func (im *importer) importEach(ctx context.Context, works []planned, p Progress) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks, done := make(chan chunk, 4), make(chan error, 1)
	go func() {
		defer close(chunks)
		done <- im.producer.produceAll(ctx, works, func(c chunk) error { return c.hand(ctx, chunks) })
	}()
	err := im.consumeAll(ctx, chunks, p)
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

// consumeAll stores chunks and reports the progress.
func (im *importer) consumeAll(ctx context.Context, chunks <-chan chunk, p Progress) error {
	for c := range chunks {
		if err := im.consumer.consume(ctx, c); err != nil {
			return err
		}
		if c.taken != nil {
			close(c.taken)
		}
		p.Path = c.w.now.path
		p.Bytes += c.bytes
		if c.end && c.w.name == "" { // a unit counts as one, with all its sources
			p.Files++
		}
		if im.progress != nil {
			im.progress(p)
		}
	}
	return ctx.Err()
}

// read reads and stores what is new in one file or unit.
func (im *importer) read(ctx context.Context, p planned) error {
	return im.producer.produceAll(ctx, []planned{p}, func(c chunk) error { return im.consumer.consume(ctx, c) })
}

// apartAtOnce is how many files' waiting events are looked up together.
const apartAtOnce = 256

// placeApart appends the events that files have for other files' sessions to those
// sessions, as far as these are known by now. Most wait forever, for a file that was
// deleted long ago, so looking for them must cost little.
func (im *importer) placeApart(ctx context.Context) error {
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(im.known.apart)), apartAtOnce) {
		var keys []skein.ClientID
		for _, path := range paths {
			for _, of := range im.known.apart[path] {
				keys = append(keys, reconcile.Candidates(of)...)
			}
		}
		places, failed := skein.SourcesOf(im.store).Find(ctx, keys)
		for _, path := range paths {
			if failed == nil && !slices.ContainsFunc(im.known.apart[path], func(of skein.ClientID) bool { return isPlaced(places, of) }) {
				continue
			}
			if err := im.placeApartOf(ctx, im.known.files[path].Format, path); err != nil {
				if err := im.rep.fails(ctx, path, err); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isPlaced reports whether a record with this key made any of the events in places.
func isPlaced(places map[skein.ClientID]skein.Place, key skein.ClientID) bool {
	return slices.ContainsFunc(reconcile.Candidates(key), func(k skein.ClientID) bool { return places[k].Session != "" })
}

// placeApartOf is placeApart for one file.
func (im *importer) placeApartOf(ctx context.Context, format, path string) error {
	f, err := im.known.stored(ctx, format, path)
	if err != nil {
		return err
	}
	st := decodeState(f.State)
	if len(st.Apart) == 0 {
		return nil
	}
	left, err := im.appendApart(ctx, f, st.Apart)
	if err == nil && len(left) == len(st.Apart) {
		return nil
	}
	st.Apart = left
	f.State = st.encode()
	_, storing := im.store.Append(ctx, skein.Batch{Session: f.Session, Import: &skein.Import{File: f}})
	if storing != nil && !errors.Is(storing, skein.ErrDeleted) {
		return errors.Join(err, storing)
	}
	im.known.keep(f)
	return err
}

// appendApart returns the events whose session is not known yet, or that could not be
// appended: the error says why.
func (im *importer) appendApart(ctx context.Context, f skein.SourceFile, as []apart) (left []apart, failed error) {
	var keys []skein.ClientID
	for _, a := range as {
		keys = append(keys, reconcile.Candidates(a.Of)...)
	}
	places, err := skein.SourcesOf(im.store).Find(ctx, keys)
	if err != nil {
		return as, err
	}
	for _, a := range as {
		i := slices.IndexFunc(reconcile.Candidates(a.Of), func(k skein.ClientID) bool { return places[k].Session != "" })
		if i < 0 {
			left = append(left, a)
			continue
		}
		id := places[reconcile.Candidates(a.Of)[i]].Session
		if id == f.Session {
			continue // its reader has handled it
		}
		e := skein.Event{Kind: a.Kind, Time: a.Time, Payload: a.Payload}
		e.ClientID = "apart:" + skein.ClientID(digest(append([]byte(a.Of), a.Payload...))[:32])
		b := skein.Batch{Session: id, Events: []skein.Event{e}}
		got, err := im.store.Append(ctx, b)
		switch {
		case errors.Is(err, skein.ErrDeleted), errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrMismatch), errors.Is(err, skein.ErrInvalid):
		case err != nil:
			left, failed = append(left, a), cmp.Or(failed, err)
		default:
			im.rep.count(b, got[0])
		}
	}
	return left, failed
}
