package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
)

// write writes what is new.
func (y *syncer) write(ctx context.Context, done *Synced) error {
	x := &exporter{store: y.store, format: y.format, home: y.home, o: Exports{Now: time.Now()}, spots: map[skein.SessionID]Spot{}}
	d, err := x.draft(ctx, y.sess)
	if err != nil {
		return err
	}
	d.After, d.Path, d.Name = y.from.last, y.below, y.name
	d.Known = y.store.Records(ctx, y.format.Name, y.from.file.Path, 0)
	d.Tells = newTeller(d.Events, d.After, y.from.told).tells
	for _, e := range d.Events {
		if e.Seq > d.After && talks(e.Kind) {
			done.Events++
		}
	}
	w, err := y.format.Write(ctx, d)
	if err != nil {
		return err
	}
	done.Losses = w.Losses
	own := slices.IndexFunc(w.Texts, func(t Text) bool { return t.Path == y.below && t.Name == y.name })
	if own < 0 {
		return fmt.Errorf("%w: %s holds nothing of what is new", skein.ErrInvalid, y.format.Name)
	}
	w.Texts[own].reach(d.Events)
	if !y.format.inUnit(y.from.file) {
		err = y.appendLines(ctx, w.Texts[own].Lines)
	} else {
		err = y.putUnit(ctx, x, w.Texts)
	}
	if err != nil {
		return err
	}
	for _, t := range w.Texts {
		if t.Path != y.below {
			if err := x.put(ctx, []Text{t}); err != nil {
				return err
			}
		}
	}
	if err := y.adopt(ctx, w.Texts[own].Lines, d.Events[len(d.Events)-1].Seq); err != nil {
		return err
	}
	return y.side(ctx, x)
}

// side writes the source's side file anew, if there is one: what the session went
// back over is in no other.
func (y *syncer) side(ctx context.Context, x *exporter) error {
	path := sidePath(y.format, y.unit, y.name)
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return nil
	}
	f, err := y.store.File(ctx, y.format.Name, y.from.file.Path)
	if err != nil {
		return err
	}
	return x.sideAt(ctx, path, y.sess, decodeState(f.State).Told)
}

// appendLines appends to a file of lines.
func (y *syncer) appendLines(ctx context.Context, lines []OutLine) error {
	info, err := os.Stat(y.unit)
	if err != nil {
		return err
	}
	same, err := y.stands(ctx)
	switch {
	case err != nil:
		return err
	case !same:
		return ErrChanged
	}
	var b bytes.Buffer
	for r, err := range y.store.Records(ctx, y.format.Name, y.from.file.Path, max(0, y.from.file.Records-1)) {
		if err != nil {
			return err
		}
		if !bytes.HasSuffix(r.Raw, []byte("\n")) {
			b.WriteByte('\n')
		}
	}
	for _, l := range lines {
		b.Write(l.Body)
	}
	return appendFile(y.unit, info.Size(), b.Bytes())
}

// putUnit puts the sources of a unit that have something new into it.
func (y *syncer) putUnit(ctx context.Context, x *exporter, texts []Text) error {
	var parts []Part
	for _, t := range texts {
		if t.Path != y.below {
			continue
		}
		was, err := x.records(ctx, sourcePath(y.unit, t.Name))
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
		p := Part{Name: t.Name, Was: bytes.NewReader(was), Lines: bytes.NewReader(whole(was, t.Lines))}
		if len(t.Gone) > 0 {
			p.Gone = bytes.NewReader(bytes.Join(t.Gone, nil))
		}
		parts = append(parts, p)
	}
	return y.format.Put(ctx, y.unit, parts)
}

// whole returns the lines that a source is to have: of a folder, each file
// whole, with the lines that it had, as many as its own line says.
func whole(was []byte, lines []OutLine) []byte {
	var pieces, ends []byte
	new := map[string]bool{}
	count := map[string]int{}
	touched := map[string]bool{}
	size := map[string]int{}
	isFolder := false
	for _, l := range lines {
		new[identity(l.Body, count)] = true
		if f, err := folder.Parse(l.Body); err == nil {
			isFolder, touched[f.File] = true, true
			if f.Lines != nil {
				size[f.File] = *f.Lines
			}
		}
	}
	if !isFolder {
		for _, l := range lines {
			ends = append(ends, l.Body...)
		}
		return ends
	}
	clear(count)
	for line := range bytes.Lines(was) {
		f, err := folder.Parse(line)
		if err == nil && f.Line != nil && touched[f.File] && !cut(size, f) && !new[identity(line, count)] {
			pieces = append(pieces, line...)
		}
	}
	for _, l := range lines {
		if f, err := folder.Parse(l.Body); err == nil && f.Line != nil {
			pieces = append(pieces, l.Body...)
		} else {
			ends = append(ends, l.Body...)
		}
	}
	return append(pieces, ends...)
}

// cut reports whether a line lies behind the end that its file is to have.
func cut(size map[string]int, l folder.Line) bool {
	n, ends := size[l.File]
	return ends && *l.Line >= n
}

// adopt reads again what was written, as records of events that the session
// has, up to last.
func (y *syncer) adopt(ctx context.Context, lines []OutLine, last skein.Seq) error {
	known := map[recordHash]int{}
	for r, err := range y.store.Records(ctx, y.format.Name, y.from.file.Path, 0) {
		if err != nil {
			return err
		}
		known[hashRecord(r.Raw)]++
	}
	if y.format.Look != nil {
		lines = newPieces(lines, maps.Clone(known))
	}
	w := &work{format: y.format}
	w.stream = newStream(y.format, File{Path: y.unit, Name: y.name, Unit: y.format.inUnit(y.from.file), Beside: func(string) ([]byte, bool) { return nil, false }})
	var raws [][]byte
	now := map[recordHash]int{}
	err := y.lines(ctx, func(r io.Reader) error {
		return w.stream.run(r, func(rd read) error {
			h := hashRecord(rd.rec.Raw)
			if now[h]++; known[h] > 0 {
				known[h]--
			} else {
				raws = append(raws, rd.rec.Raw)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	var rep Report
	im, err := newImporter(ctx, y.store, []Format{y.format}, Options{}, &rep)
	if err != nil {
		return err
	}
	im.ours = y.from.file.Path
	im.adopts = map[string]told{y.from.file.Path: match(y.from.told, raws, lines).only(now).upTo(last)}
	found, err := walk(ctx, []string{y.unit}, &rep)
	if err != nil {
		return err
	}
	return im.importAll(ctx, found, still, nil)
}

// newPieces returns the lines less those pieces of a document that it had: a
// document is written whole. Other lines stay.
func newPieces(lines []OutLine, known map[recordHash]int) (news []OutLine) {
	for _, l := range lines {
		h := hashRecord(l.Body)
		if known[h] > 0 && (bytes.HasPrefix(l.Body, []byte(`{"text":`)) || bytes.HasPrefix(l.Body, []byte(`{"base64":`))) {
			known[h]--
			continue
		}
		news = append(news, l)
	}
	return news
}

// match adds to list the new records of a source, which was given these lines.
func match(list told, raws [][]byte, lines []OutLine) told {
	seqs, count := map[string]skein.Seq{}, map[string]int{}
	for _, l := range lines {
		seqs[identity(l.Body, count)] = l.Seq
	}
	clear(count)
	b := builderOfTold{list: slices.Clone(list)}
	list.each(func(_ recordHash, s skein.Seq) { b.seq = s })
	seq := b.seq
	for _, raw := range raws {
		if s := seqs[identity(raw, count)]; s > 0 {
			seq = s
		}
		b.add(hashRecord(raw), seq)
	}
	return b.list
}
