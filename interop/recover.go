package interop

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
)

// recovered says how much of an intent is in its source.
type recovered struct {
	echoes echoes // of the records that the source has now
	some   bool   // part of it
	whole  bool   // all of it
}

// findWritten looks in a source, which read reads from its beginning, for what in
// says was to be written to it. was is what the store knows to have been written
// here before.
func findWritten(ctx context.Context, s skein.Store, file skein.SourceFile, unit bool, was echoes, in *intent, read func(func(read) error) error) (recovered, error) {
	r := intentMatch{unit: unit, known: map[recordHash]int{}, marks: map[recordMark]int{}, now: map[recordHash]int{}}
	for rec, err := range skein.SourcesOf(s).Records(ctx, file.Format, file.Path, 0) {
		if errors.Is(err, skein.ErrNotFound) {
			break
		}
		if err != nil {
			return recovered{}, err
		}
		r.known[hashRecord(rec.Raw)]++
		r.marks[markOf(rec.Raw, unit)]++
	}
	if err := read(r.take); err != nil {
		return recovered{}, err
	}
	return r.match(in, was), nil
}

// An intentMatch is one look at a source.
type intentMatch struct {
	unit  bool
	known map[recordHash]int // the records that the store has, minus those seen so far
	marks map[recordMark]int // of these
	now   map[recordHash]int // the records that the source has
	news  []newRecord
	cut   bool // the last of them is cut off
}

// A newRecord is a record that the store does not have.
type newRecord struct {
	hash recordHash
	mark recordMark
	ours bool
	seq  skein.Seq
}

func (r *intentMatch) take(rd read) error {
	h := hashRecord(rd.rec.Raw)
	r.now[h]++
	if r.known[h] > 0 {
		r.known[h]--
		return nil
	}
	raw := rd.rec.Raw
	if r.cut = !bytes.HasSuffix(raw, []byte("\n")); r.cut {
		raw = append(slices.Clone(raw), '\n')
	}
	r.news = append(r.news, newRecord{hash: h, mark: markOf(raw, r.unit)})
	return nil
}

// match compares the new records with what was to be written: each line matches
// at most one of them. A row that its database has changed is known by its table
// alone: the first rows that are left are matched.
func (r *intentMatch) match(in *intent, was echoes) (f recovered) {
	waits := map[recordMark][]skein.Seq{}
	for kind, list := range in.Marks {
		list.each(func(h recordHash, s skein.Seq) {
			m := recordMark{kind: kind, hash: h}
			waits[m] = append(waits[m], s)
		})
	}
	took, theirs := map[recordMark]int{}, map[string]bool{}
	for i := range r.news {
		n := &r.news[i]
		m := recordMark{kind: n.mark.kind, hash: n.mark.hash}
		if seqs := waits[m][min(took[m], len(waits[m])):]; len(seqs) > 0 {
			took[m]++
			n.ours, n.seq = true, seqs[0]
		} else if m.kind == aPiece {
			theirs[n.mark.file] = true
		}
	}
	for i := range r.news { // the end line of a file that somebody else wrote to is theirs
		if n := &r.news[i]; n.mark.kind == anEnd && theirs[n.mark.file] {
			n.ours = false
		}
	}
	lacks := r.pair(in, took)
	f.some = slices.ContainsFunc(r.news, func(n newRecord) bool { return n.ours })
	stays := 0
	in.Gone.each(func(h recordHash, _ skein.Seq) { stays += min(1, r.now[h]) })
	f.some = f.some || in.Begun || len(in.Gone) > 0 && stays == 0
	f.whole = f.some && lacks == 0 && stays == 0 && !r.cut
	f.echoes = r.list(was)
	return f
}

// pair assigns the remaining rows to the lines that are rows, and returns how many
// lines are left then. took is the lines that are not.
func (r *intentMatch) pair(in *intent, took map[recordMark]int) (lacks int) {
	again := map[recordMark]int{} // lines that did not change
	for m, n := range r.marks {
		again[recordMark{kind: m.kind, hash: m.hash}] += n
	}
	for kind, list := range in.Marks {
		var left []skein.Seq
		list.each(func(h recordHash, s skein.Seq) {
			m := recordMark{kind: kind, hash: h}
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
				if n := &r.news[i]; len(left) > 0 && !n.ours && n.mark.kind == kind {
					n.ours, n.seq = true, left[0]
					left = left[1:]
				}
			}
		}
		if kind != nothing && kind != anEnd {
			lacks += len(left)
		}
	}
	return lacks
}

// list adds the records that were written here to those that were before.
func (r *intentMatch) list(was echoes) echoes {
	b := echoBuilder{list: slices.Clone(was)}
	was.each(func(_ recordHash, s skein.Seq) { b.seq = s })
	seq := b.seq
	for _, n := range r.news {
		if !n.ours {
			continue
		}
		if n.seq > 0 {
			seq = n.seq
		}
		b.add(n.hash, seq)
	}
	return b.list.only(r.now)
}

// recoverIntent looks for what a sync that was killed has written to a source that
// is to be read.
func recoverIntent(ctx context.Context, s skein.Store, w *fileJob) (adopts bool, err error) {
	in := w.state.Intent
	if in == nil || in.There {
		return false, nil
	}
	f, err := findWritten(ctx, s, w.known, w.unit != nil, w.state.Echoes, in, func(take func(read) error) error { return w.read(ctx, take) })
	w.stream = newStream(w.format, w.file())
	if err != nil || !f.some {
		return false, err
	}
	is := *in
	is.Begun = true
	w.state.Echoes, w.state.Intent = f.echoes, &is
	if f.whole {
		w.state.Echoes, w.state.Intent = f.echoes.upTo(in.Last), in.there()
	}
	return true, nil
}
