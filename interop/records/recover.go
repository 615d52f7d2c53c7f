package records

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// Recovered says how much of an intent is in its source.
type Recovered struct {
	Echoes Echoes // of the records that the source has now
	Some   bool   // part of it
	Whole  bool   // all of it
}

// FindWritten looks in a source, which read reads from its beginning, for what in
// says was to be written to it. was is what the store knows to have been written
// here before.
//
// Errors are the store's and read's.
func FindWritten(ctx context.Context, s skein.Store, file skein.SourceFile, as LineShape, was Echoes, in *Intent, read func(func(ReadRecord) error) error) (Recovered, error) {
	r := intentMatch{as: as, known: map[RecordHash]int{}, marks: map[RecordMark]int{}, now: map[RecordHash]int{}}
	for rec, err := range skein.SourcesOf(s).Records(ctx, file.Format, file.Path, 0) {
		if errors.Is(err, skein.ErrNotFound) {
			break
		}
		if err != nil {
			return Recovered{}, err
		}
		r.known[HashRecord(rec.Raw)]++
		r.marks[MarkOf(rec.Raw, as)]++
	}
	if err := read(r.take); err != nil {
		return Recovered{}, err
	}
	return r.match(in, was), nil
}

// An intentMatch is one look at a source.
type intentMatch struct {
	as    LineShape
	known map[RecordHash]int // the records that the store has, minus those seen so far
	marks map[RecordMark]int // of these
	now   map[RecordHash]int // the records that the source has
	news  []newRecord
	cut   bool // the last of them is cut off
}

// A newRecord is a record that the store does not have.
type newRecord struct {
	hash RecordHash
	mark RecordMark
	ours bool
	seq  skein.Seq
}

func (r *intentMatch) take(rd ReadRecord) error {
	h := HashRecord(rd.Rec.Raw)
	r.now[h]++
	if r.known[h] > 0 {
		r.known[h]--
		return nil
	}
	raw := rd.Rec.Raw
	if r.cut = !bytes.HasSuffix(raw, []byte("\n")); r.cut {
		raw = append(slices.Clone(raw), '\n')
	}
	r.news = append(r.news, newRecord{hash: h, mark: MarkOf(raw, r.as)})
	return nil
}

// match compares the new records with what was to be written: each line matches
// at most one of them. A row that its database has changed is known by its table
// alone: the first rows that are left are matched.
func (r *intentMatch) match(in *Intent, was Echoes) (f Recovered) {
	waits := map[RecordMark][]skein.Seq{}
	for kind, list := range in.Marks {
		list.Each(func(h RecordHash, s skein.Seq) {
			m := RecordMark{Kind: kind, Hash: h}
			waits[m] = append(waits[m], s)
		})
	}
	took, theirs := map[RecordMark]int{}, map[string]bool{}
	for i := range r.news {
		n := &r.news[i]
		m := RecordMark{Kind: n.mark.Kind, Hash: n.mark.Hash}
		if seqs := waits[m][min(took[m], len(waits[m])):]; len(seqs) > 0 {
			took[m]++
			n.ours, n.seq = true, seqs[0]
		} else if m.Kind == aPiece {
			theirs[n.mark.File] = true
		}
	}
	for i := range r.news { // the end line of a file that somebody else wrote to is theirs
		if n := &r.news[i]; n.mark.Kind == anEnd && theirs[n.mark.File] {
			n.ours = false
		}
	}
	lacks := r.pair(in, took)
	f.Some = slices.ContainsFunc(r.news, func(n newRecord) bool { return n.ours })
	stays := 0
	in.Gone.Each(func(h RecordHash, _ skein.Seq) { stays += min(1, r.now[h]) })
	f.Some = f.Some || in.Begun || len(in.Gone) > 0 && stays == 0
	f.Whole = f.Some && lacks == 0 && stays == 0 && !r.cut
	f.Echoes = r.list(was)
	return f
}

// pair assigns the remaining rows to the lines that are rows, and returns how many
// lines are left then. took is the lines that are not.
func (r *intentMatch) pair(in *Intent, took map[RecordMark]int) (lacks int) {
	again := map[RecordMark]int{} // lines that did not change
	for m, n := range r.marks {
		again[RecordMark{Kind: m.Kind, Hash: m.Hash}] += n
	}
	for kind, list := range in.Marks {
		var left []skein.Seq
		list.Each(func(h RecordHash, s skein.Seq) {
			m := RecordMark{Kind: kind, Hash: h}
			switch {
			case took[m] > 0:
				took[m]--
			case again[m] > 0:
				again[m]--
			default:
				left = append(left, s)
			}
		})
		if strings.HasPrefix(kind, rowsOf) {
			for i := range r.news {
				if n := &r.news[i]; len(left) > 0 && !n.ours && n.mark.Kind == kind {
					n.ours, n.seq = true, left[0]
					left = left[1:]
				}
			}
		}
		if kind != NoMark && kind != anEnd {
			lacks += len(left)
		}
	}
	return lacks
}

// list adds the records that were written here to those that were before.
func (r *intentMatch) list(was Echoes) Echoes {
	b := EchoBuilder{List: slices.Clone(was)}
	was.Each(func(_ RecordHash, s skein.Seq) { b.seq = s })
	seq := b.seq
	for _, n := range r.news {
		if !n.ours {
			continue
		}
		if n.seq > 0 {
			seq = n.seq
		}
		b.Add(n.hash, seq)
	}
	return b.List.only(r.now)
}

// RecoverIntent looks for what a sync that was killed has written to a source that
// is to be read.
//
// Errors are the store's, and those of reading the source.
func RecoverIntent(ctx context.Context, s skein.Store, w *FileJob) (adopts bool, err error) {
	in := w.State.Intent
	if in == nil || in.There {
		return false, nil
	}
	f, err := FindWritten(ctx, s, w.Known, LineShape{w.Unit != nil}, w.State.Echoes, in, func(take func(ReadRecord) error) error { return w.Read(ctx, take) })
	w.Stream = NewStream(w.Format, w.File())
	if err != nil || !f.Some {
		return false, err
	}
	is := *in
	is.Begun = true
	w.State.Echoes, w.State.Intent = f.Echoes, &is
	if f.Whole {
		w.State.Echoes, w.State.Intent = f.Echoes.UpTo(in.Last), in.Rest()
	}
	return true, nil
}
