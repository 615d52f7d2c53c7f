package interop

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/lenient"
)

// duplicates are the files of the same session that were read before from another
// place and have had the same records so far, byte for byte. A file with a duplicate is
// a copy, even if its events do not show it: they may have been amended, be stored
// under other keys, or depend on where the file is.
type duplicates struct {
	store skein.Store
	known *knownFiles
	begun bool         // they were looked for
	first []recordHash // the records until then
	all   []*duplicate
}

// A duplicate is one such file.
type duplicate struct {
	file     skein.SourceFile
	ahead    []skein.Record // the next ones
	next     int            // the number of the record after these
	seqs     map[skein.ClientID]skein.Seq
	amended  map[skein.Seq]skein.Seq    // the last amendment of each event
	steps    []skein.Seq                // the events that are not amendments, in order
	sessions map[string]skein.SessionID // as in state
}

// maxFirst is how many records may come before one that names the file's session.
const maxFirst = 1000

// match returns the duplicate that has this record too, and the record as it is
// in that one; nil if no duplicate has it.
func (ts *duplicates) match(ctx context.Context, file skein.SourceFile, r read) (tw *duplicate, was skein.Record, err error) {
	if !ts.begun && file.ID == "" {
		if len(r.made.Items) > 0 || len(ts.first) == maxFirst {
			ts.begun = true // it has no ID: there is nothing to look for
		} else {
			ts.first = append(ts.first, hashRecord(r.rec.Raw))
		}
		return nil, was, nil
	}
	if !ts.begun {
		if err := ts.begin(ctx, file); err != nil {
			return nil, was, err
		}
	}
	var left []*duplicate
	for _, w := range ts.all {
		rec, ok, err := w.record(ctx, ts.store, r.rec.N)
		switch {
		case err != nil:
			return nil, was, err
		case !ok || !bytes.Equal(bytes.TrimSuffix(rec.Raw, lineFeed), bytes.TrimSuffix(r.rec.Raw, lineFeed)):
			continue
		case tw == nil:
			tw, was = w, rec
		}
		left = append(left, w)
	}
	ts.all = left
	return tw, was, nil
}

var lineFeed = []byte("\n")

// begin looks for the duplicates.
func (ts *duplicates) begin(ctx context.Context, of skein.SourceFile) error {
	ts.begun = true
	for _, path := range ts.known.pathsOfID(of.Format, of.ID) {
		if path == of.Path {
			continue
		}
		f, err := ts.known.stored(ctx, of.Format, path)
		if err != nil {
			return err
		}
		if f.Session == "" {
			continue
		}
		tw := &duplicate{file: f, seqs: map[skein.ClientID]skein.Seq{}, amended: map[skein.Seq]skein.Seq{}, sessions: decodeState(f.State).Sessions}
		same, err := tw.begins(ctx, ts.store, ts.first)
		if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrDeleted) {
			continue
		}
		if err != nil {
			return err
		}
		if same {
			ts.all = append(ts.all, tw)
		}
	}
	ts.first = nil
	return nil
}

// begins reports whether the file begins with these records, and if so reads
// where the events of its session are.
func (tw *duplicate) begins(ctx context.Context, s skein.Store, with []recordHash) (bool, error) {
	for n, h := range with {
		rec, ok, err := tw.record(ctx, s, n)
		if err != nil || !ok || hashRecord(rec.Raw) != h {
			return false, err
		}
	}
	for e, err := range lenient.Store(s, nil).Events(ctx, tw.file.Session, 0) {
		if err != nil {
			return false, err
		}
		if e.ClientID != "" {
			tw.seqs[e.ClientID] = e.Seq
		}
		if e.Kind != skein.KindAmended {
			tw.steps = append(tw.steps, e.Seq)
		} else if a, err := skein.Decode[skein.Amended](e); err == nil {
			tw.amended[a.Seq] = e.Seq
		}
	}
	return true, nil
}

// record returns record n, if there is one; n goes up one by one.
func (tw *duplicate) record(ctx context.Context, s skein.Store, n int) (rec skein.Record, ok bool, err error) {
	if len(tw.ahead) == 0 && n == tw.next {
		size := 0
		for r, err := range skein.SourcesOf(s).Records(ctx, tw.file.Format, tw.file.Path, n) {
			if err != nil {
				return rec, false, err
			}
			tw.ahead = append(tw.ahead, r)
			tw.next = r.N + 1
			if size += len(r.Raw); size > chunkBytes || len(tw.ahead) >= chunkRecords {
				break
			}
		}
	}
	if len(tw.ahead) == 0 || tw.ahead[0].N != n {
		return rec, false, nil
	}
	rec, tw.ahead = tw.ahead[0], tw.ahead[1:]
	return rec, true, nil
}

// end returns far if only amendments come after seq up to there, so that what ends
// at seq may end there: otherwise they would not be in force. If anything else comes
// in between, it returns seq.
func (tw *duplicate) end(seq, far skein.Seq) skein.Seq {
	i, _ := slices.BinarySearch(tw.steps, seq+1)
	if i < len(tw.steps) && tw.steps[i] <= far {
		return seq
	}
	return far
}
