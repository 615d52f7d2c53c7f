package writeback

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/store/lenient"
)

// legible returns s such that it can be read around what is damaged: f's source records
// as far as the sources still have them, and placeholders for events.
func legible(s skein.Store, f *interop.Format, d damages) mending {
	return newMending(lenient.Store(s, func(id skein.SessionID, e *skein.DamagedError) { d.add(id, e.Error()) }), f)
}

// damages is what is damaged in each session, in words.
type damages map[skein.SessionID][]string

func (d damages) add(id skein.SessionID, what string) {
	if !slices.Contains(d[id], what) {
		d[id] = append(d[id], what)
	}
}

// A mending store replaces a format's source records that are damaged in it with those
// in the source itself, if that still begins with what was read, as a checksum of all
// of it shows. Nothing of that is stored.
type mending struct {
	skein.Store
	skein.Sources
	format *interop.Format
	found  map[string]map[int]skein.Record // in a source, by its path in the store: it may be written to since
}

// Unwrap returns the store that it mends.
func (m mending) Unwrap() skein.Store { return m.Store }

func newMending(s skein.Store, f *interop.Format) mending {
	return mending{s, skein.SourcesOf(s), f, map[string]map[int]skein.Record{}}
}

// Records implements [skein.Sources].
func (m mending) Records(ctx context.Context, format, path string, n int) iter.Seq2[skein.Record, error] {
	if format != m.format.Name {
		return m.Sources.Records(ctx, format, path, n)
	}
	return lenient.Mended(ctx, m.Sources, format, path, n, func(bad *skein.DamagedRecordsError, next int) (mended []skein.Record, whole bool) {
		if m.found[path] == nil {
			m.found[path] = m.there(ctx, format, path)
		}
		for ; next <= bad.Last; next++ {
			r, ok := m.found[path][next]
			if !ok {
				return mended, false
			}
			mended = append(mended, r)
		}
		return mended, true
	})
}

// there returns those records of a source that are damaged in the store, as they
// are in the source; nil if the source is missing or has changed.
func (m mending) there(ctx context.Context, format, path string) map[int]skein.Record {
	f, err := m.Sources.File(ctx, format, path)
	if err != nil {
		return nil
	}
	var bad []*skein.DamagedRecordsError
	for _, err := range lenient.Records(ctx, m.Store, format, path, func(e *skein.DamagedRecordsError) { bad = append(bad, e) }) {
		if err != nil {
			return nil
		}
	}
	unit, name := records.SplitPath(m.format, path)
	w := &records.FileJob{Format: *m.format, Now: disk.File{Path: unit}, Name: name}
	if records.InUnit(m.format, f) {
		w.Unit = &records.Opened{Path: unit, Formats: []*interop.Format{m.format}}
		if _, err := w.Unit.Look(ctx); err != nil {
			return nil
		}
		defer w.Unit.Unit.Close() //nolint:errcheck // it was read
		if _, err := w.Unit.Unit.Sources(ctx); err != nil {
			return nil
		}
	}
	w.Stream = records.NewStream(w.Format, w.File())
	st := records.DecodeState(f.State)
	there := map[int]skein.Record{}
	claims, echoes := records.NewUniqueKeys(), st.Echoes.Index()
	err = w.Read(ctx, func(r records.ReadRecord) error {
		if r.Rec.N >= st.Records {
			return errAllRead
		}
		key, again := claims.KeyOf(r)
		for len(bad) > 0 && bad[0].Last < r.Rec.N {
			bad = bad[1:]
		}
		if len(bad) > 0 && bad[0].First <= r.Rec.N {
			rec := r.Rec
			rec.Raw = append([]byte(nil), rec.Raw...)
			if len(echoes[records.HashRecord(rec.Raw)]) == 0 { // otherwise it was made of events
				if rec.Key = key; !again {
					rec.Events = len(r.Made.Items)
				}
			}
			there[rec.N] = rec
		}
		return nil
	})
	now := w.Stream.State()
	if err != nil && !errors.Is(err, errAllRead) || now.Records != st.Records || now.Sum != st.Sum {
		return nil
	}
	return there
}

var errAllRead = errors.New("the stored state was read")
