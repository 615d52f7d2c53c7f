package writeback

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/records"
)

// A syncedSource is the source that a sync writes to, as the store knows it and as it is.
type syncedSource struct {
	store       mending // see legible
	format      interop.Format
	from        importer.ProvenanceOf
	unit, name  string
	home, below string
}

// intent returns what a sync was about to write to the source when it was interrupted;
// nil if the store knows what was written.
func (src *syncedSource) intent() *records.Intent {
	return records.DecodeState(src.from.File.State).Intent
}

// saveIntent stores what is about to be written, or with nil that nothing is.
func (src *syncedSource) saveIntent(ctx context.Context, in *records.Intent) error {
	f, err := skein.SourcesOf(src.store.Store).File(ctx, src.format.Name, src.from.File.Path)
	if err != nil {
		return err
	}
	s := records.DecodeState(f.State)
	if src.from.File = f; s.Intent.Same(in) {
		return nil
	}
	if s.Intent = in; in != nil && !records.InUnit(&src.format, f) {
		info, err := os.Stat(src.unit)
		if err != nil {
			return err
		}
		in.Size = info.Size()
	}
	f.State = s.Encode()
	if _, err := src.store.Append(ctx, skein.Batch{Session: f.Session, Import: &skein.Import{File: f}}); err != nil {
		return err
	}
	src.from.File = f
	return nil
}

// stands reports whether the source is as it is stored.
func (src *syncedSource) stands(ctx context.Context) (bool, error) {
	h := sha256.New()
	if err := WriteSource(ctx, src.store, src.format.Name, src.from.File.Path, h); err != nil {
		return false, err
	}
	is := sha256.New()
	err := src.lines(ctx, func(r io.Reader) error {
		_, err := io.Copy(is, r)
		return err
	})
	return bytes.Equal(h.Sum(nil), is.Sum(nil)), err
}

// lines lets read read the source in its current state.
func (src *syncedSource) lines(ctx context.Context, read func(io.Reader) error) (err error) {
	if !records.InUnit(&src.format, src.from.File) {
		f, _, err := disk.Open(src.unit)
		if err != nil {
			return err
		}
		defer f.Close()
		return read(disk.Cancelable(ctx, f))
	}
	u, err := src.format.Look(ctx, src.unit)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	sources, err := u.Sources(ctx)
	if err != nil {
		return err
	}
	if src.name != "" {
		is := func(s interop.Source) bool {
			return s.Name != "" && records.SourcePath(src.unit, s.Name) == src.from.File.Path
		}
		i := slices.IndexFunc(sources, is)
		if i < 0 {
			return fmt.Errorf("%w: %s no longer contains it", skein.ErrNotFound, src.unit)
		}
		src.name = sources[i].Name // a long name is not in the path
	}
	r, err := u.Open(ctx, src.name)
	if err != nil {
		return err
	}
	defer r.Close()
	return read(r)
}

// looks looks for what was written in the source.
func (src *syncedSource) looks(ctx context.Context, in *records.Intent) (records.Recovered, error) {
	unit := records.InUnit(&src.format, src.from.File)
	st := records.NewStream(src.format, interop.File{Path: src.unit, Name: src.name, Unit: unit, Beside: func(string) ([]byte, bool) { return nil, false }})
	return records.FindWritten(ctx, src.store, src.from.File, records.LineShape{Unit: unit}, src.from.Echoes, in, func(take func(records.ReadRecord) error) error {
		return src.lines(ctx, func(r io.Reader) error { return st.Run(r, take) })
	})
}

// begun reports whether a file of lines ends in a part of the first line that
// was to be written.
func (src *syncedSource) begun(in *records.Intent) bool {
	if records.InUnit(&src.format, src.from.File) {
		return false
	}
	there, err := src.behind(in)
	return err == nil && len(there) > 0 && bytes.HasPrefix(src.own(in.SourceTexts()), bytes.TrimPrefix(there, []byte("\n")))
}

// behind returns what follows the earlier content in a file of lines.
func (src *syncedSource) behind(in *records.Intent) (_ []byte, err error) {
	f, _, err := disk.Open(src.unit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(in.Size, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, records.MaxState))
}

// own returns the lines of the source itself.
func (src *syncedSource) own(texts []interop.SourceText) (b []byte) {
	for _, t := range texts {
		if t.Path == src.below && t.Name == src.name {
			b = bytesOf(&t)
		}
	}
	return b
}

// appendRest completes a line of which a file has only the beginning.
func (src *syncedSource) appendRest(in *records.Intent, texts []interop.SourceText) error {
	there, err := src.behind(in)
	if err != nil {
		return err
	}
	whole := src.own(texts)
	if len(there) > 0 && there[0] == '\n' { // the line before had no end
		in.Size++
		there = there[1:]
	}
	if len(there) >= len(whole) || !bytes.HasPrefix(whole, there) {
		return nil
	}
	return disk.AppendFile(src.unit, in.Size+int64(len(there)), whole[len(there):])
}

// appendLines appends to a file of lines.
func (src *syncedSource) appendLines(ctx context.Context, lines []interop.OutLine) error {
	info, err := os.Stat(src.unit)
	if err != nil {
		return err
	}
	same, err := src.stands(ctx)
	switch {
	case err != nil:
		return err
	case !same:
		return interop.ErrChanged
	}
	var b bytes.Buffer
	for r, err := range src.store.Records(ctx, src.format.Name, src.from.File.Path, max(0, src.from.File.Records-1)) {
		if err != nil {
			return err
		}
		if !bytes.HasSuffix(r.Raw, []byte("\n")) {
			b.WriteByte('\n')
		}
	}
	for _, l := range lines {
		b.Write(l.Body.Bytes())
	}
	return disk.AppendFile(src.unit, info.Size(), b.Bytes())
}

// putUnit puts the sources of a unit that have something new into it.
func (src *syncedSource) putUnit(ctx context.Context, texts []interop.SourceText) error {
	var parts []interop.Part
	for _, t := range texts {
		if t.Path != src.below {
			continue
		}
		was, err := sourceBytes(ctx, src.store, src.format.Name, records.SourcePath(src.unit, t.Name))
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
		p := interop.Part{Name: t.Name, Was: bytes.NewReader(was), Lines: bytes.NewReader(whole(was, t.Lines))}
		if len(t.Gone) > 0 {
			p.Gone = bytes.NewReader(bytes.Join(t.Gone, nil))
		}
		parts = append(parts, p)
	}
	return src.format.Put(ctx, src.unit, parts)
}

// hasSide reports whether the source has a side file.
func (src *syncedSource) hasSide() (bool, error) {
	info, err := os.Lstat(records.SidePath(src.unit, src.name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode().IsRegular(), err
}

// whole returns the lines that a source is to have: for a folder, each file whole,
// with as many of its previous lines as its own line says.
func whole(was []byte, lines []interop.OutLine) []byte {
	var pieces, ends []byte
	new := map[string]bool{}
	count := map[string]int{}
	touched := map[string]bool{}
	size := map[string]int{}
	isFolder := false
	for _, l := range lines {
		new[records.Identity(l.Body.Gist(), count)] = true
		if f, err := folder.Peek(l.Body.Gist()); err == nil {
			isFolder, touched[f.File] = true, true
			if f.Lines != nil {
				size[f.File] = *f.Lines
			}
		}
	}
	if !isFolder {
		for _, l := range lines {
			ends = l.Body.AppendTo(ends)
		}
		return ends
	}
	clear(count)
	for line := range bytes.Lines(was) {
		f, err := folder.Peek(line)
		if err == nil && f.Line != nil && touched[f.File] && !cut(size, f) && !new[records.Identity(line, count)] {
			pieces = append(pieces, line...)
		}
	}
	for _, l := range lines {
		if f, err := folder.Peek(l.Body.Gist()); err == nil && f.Line != nil {
			pieces = l.Body.AppendTo(pieces)
		} else {
			ends = l.Body.AppendTo(ends)
		}
	}
	return append(pieces, ends...)
}

// cut reports whether a line is after the end that its file is to have.
func cut(size map[string]int, l folder.Line) bool {
	n, ends := size[l.File]
	return ends && *l.Line >= n
}
