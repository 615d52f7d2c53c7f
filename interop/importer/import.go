package importer

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
)

// A Pipeline is one run of Import, or a Watch. What is read takes one way: a planner
// picks files, a producer reads records from them, and a consumer stores these.
type Pipeline struct {
	store    skein.Store
	Known    *discover.KnownFiles
	rep      *discover.Reporting
	Planner  *discover.Planner
	producer *producer
	Consumer *Consumer
	Rereader *rereader
	Wholes   *wholes
	progress func(interop.Progress) // may be nil
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
func Import(ctx context.Context, s skein.Store, formats []interop.Format, paths []string, o interop.Options) (rep interop.Report, err error) {
	defer skein.Wrapf(&err, "import")
	start := time.Now()
	defer func() { rep.Elapsed = time.Since(start) }()
	im, err := NewPipeline(ctx, s, formats, o, &discover.Reporting{Report: &rep})
	if err != nil {
		return rep, err
	}
	found, err := disk.Walk(ctx, paths, &rep)
	if err == nil && o.Named {
		err = im.name(ctx, paths)
	}
	if err == nil {
		err = im.Import(ctx, found, discover.Still, paths)
	}
	if err == nil {
		err = im.PlaceApart(ctx)
	}
	if err == nil {
		err = im.MarkGone(ctx, found, paths)
	}
	if err == nil {
		err = im.barren(ctx)
	}
	return rep, err
}

// NewPipeline returns a pipeline that reports to rep, whose store it sets.
//
// The error is the store's.
func NewPipeline(ctx context.Context, s skein.Store, formats []interop.Format, o interop.Options, rep *discover.Reporting) (*Pipeline, error) {
	rep.Store = s
	known, err := discover.Known(ctx, s, formats)
	if err != nil {
		return nil, err
	}
	im := &Pipeline{
		store: s, Known: known, rep: rep, progress: o.Progress,
		Planner:  discover.NewPlanner(known, rep, o),
		producer: &producer{store: s, known: known, own: rep.Own, again: o.Again, listed: discover.UnitListing{}},
		Wholes:   &wholes{store: s, known: known, rep: rep, again: o.Again},
	}
	im.Rereader = &rereader{store: s, known: known, rep: rep, all: o.Again, read: im.Read, again: map[skein.SessionID]bool{}, rereads: map[string]int{}}
	im.Consumer = &Consumer{
		outlet: outlet{store: s, known: known, rep: rep, parents: &parents{store: s, known: known}, rereader: im.Rereader},
		other:  im.Planner.NotUnit,
	}
	if o.Checkout != nil {
		im.Consumer.folders = &lookups{checkout: o.Checkout}
	}
	return im, nil
}

// Import reads the files that were found, and everything that is to be read again
// because of them. moving says which files may still be written. roots is where they
// were found.
//
// Errors are ctx's, and those of a store that has stopped responding.
func (im *Pipeline) Import(ctx context.Context, found []disk.File, moving func(disk.File) bool, roots []string) error {
	im.Consumer.folders.forget()                       // a watch continues while they change
	if err := im.Rereader.RereadAll(ctx); err != nil { // left over from an earlier import
		return err
	}
	works, p := im.Planner.Plan(found, moving, roots...)
	works, whole := discover.ApartWhole(works)
	if err := im.importEach(ctx, works, p); err != nil {
		return err
	}
	works, p = im.Planner.PlanFallen(moving)
	works, more := discover.ApartWhole(works)
	if err := im.importEach(ctx, works, p); err != nil {
		return err
	}
	if err := im.Rereader.turnAll(ctx, found); err != nil {
		return err
	}
	if err := im.Rereader.RereadAll(ctx); err != nil {
		return err
	}
	return im.Wholes.LoadAll(ctx, append(whole, more...))
}

// importEach reads files on one goroutine and stores their contents on another.
func (im *Pipeline) importEach(ctx context.Context, works []discover.Planned, p interop.Progress) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks, done := make(chan records.Chunk, 4), make(chan error, 1)
	go func() {
		defer close(chunks)
		done <- im.producer.produceAll(ctx, works, func(c records.Chunk) error { return c.Hand(ctx, chunks) })
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
func (im *Pipeline) consumeAll(ctx context.Context, chunks <-chan records.Chunk, p interop.Progress) error {
	for c := range chunks {
		if err := im.Consumer.Consume(ctx, c); err != nil {
			return err
		}
		if c.Taken != nil {
			close(c.Taken)
		}
		p.Path = c.Job.Now.Path
		p.Bytes += c.Bytes
		if c.End && c.Job.Name == "" { // a unit counts as one, with all its sources
			p.Files++
		}
		if im.progress != nil {
			p.Report = *im.rep.Report
			im.progress(p)
		}
	}
	return ctx.Err()
}

// Read reads and stores what is new in one file or unit.
//
// Errors as [Pipeline.Import].
func (im *Pipeline) Read(ctx context.Context, p discover.Planned) error {
	return im.producer.produceAll(ctx, []discover.Planned{p}, func(c records.Chunk) error { return im.Consumer.Consume(ctx, c) })
}

// apartAtOnce is how many files' waiting events are looked up together.
const apartAtOnce = 256

// PlaceApart appends the events that files have for other files' sessions to those
// sessions, as far as these are known by now. Most wait forever, for a file that was
// deleted long ago, so looking for them must cost little.
//
// Errors as [Pipeline.Import].
func (im *Pipeline) PlaceApart(ctx context.Context) error {
	for paths := range slices.Chunk(slices.Sorted(maps.Keys(im.Known.Apart)), apartAtOnce) {
		var keys []skein.ClientID
		for _, path := range paths {
			for _, of := range im.Known.Apart[path] {
				keys = append(keys, reconcile.Candidates(of)...)
			}
		}
		places, failed := skein.SourcesOf(im.store).Find(ctx, keys)
		for _, path := range paths {
			if failed == nil && !slices.ContainsFunc(im.Known.Apart[path], func(of skein.ClientID) bool { return isPlaced(places, of) }) {
				continue
			}
			if err := im.placeApartOf(ctx, im.Known.Files[path].Format, path); err != nil {
				if err := im.rep.Fails(ctx, path, err); err != nil {
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
func (im *Pipeline) placeApartOf(ctx context.Context, format, path string) error {
	f, err := im.Known.Stored(ctx, format, path)
	if err != nil {
		return err
	}
	st := records.DecodeState(f.State)
	if len(st.Apart) == 0 {
		return nil
	}
	left, err := im.appendApart(ctx, f, st.Apart)
	if err == nil && len(left) == len(st.Apart) {
		return nil
	}
	st.Apart = left
	f.State = st.Encode()
	_, storing := im.store.Append(ctx, skein.Batch{Session: f.Session, Import: &skein.Import{File: f}})
	if storing != nil && !errors.Is(storing, skein.ErrDeleted) {
		return errors.Join(err, storing)
	}
	im.Known.Keep(f)
	return err
}

// apartPrefix begins the client IDs of events that a file had for another file's session.
const apartPrefix = "apart:"

// apartID returns the client ID of such an event, for the session with the record of.
func apartID(of skein.ClientID, payload []byte) skein.ClientID {
	return apartPrefix + skein.ClientID(records.Digest(append([]byte(of), payload...))[:32])
}

// appendApart returns the events whose session is not known yet, or that could not be
// appended: the error says why.
func (im *Pipeline) appendApart(ctx context.Context, f skein.SourceFile, as []records.StoredApart) (left []records.StoredApart, failed error) {
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
		if id == f.Session && !a.Moved {
			continue // its reader has handled it
		}
		e := skein.Event{Kind: a.Kind, Time: a.Time, Payload: a.Payload, ClientID: apartID(a.Of, a.Payload)}
		b := skein.Batch{Session: id, Events: []skein.Event{e}}
		got, err := im.store.Append(ctx, b)
		switch {
		case errors.Is(err, skein.ErrDeleted), errors.Is(err, skein.ErrNotFound), errors.Is(err, skein.ErrMismatch), errors.Is(err, skein.ErrInvalid):
		case err != nil:
			left, failed = append(left, a), cmp.Or(failed, err)
		default:
			im.rep.AddBatch(b, got[0])
		}
	}
	return left, failed
}
