package writeback

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/records"
)

// exact writes the source that a session was read from, byte for byte. If its records
// are damaged, the session is rewritten or, if f only reads, as far as it is intact.
func (x *exporter) exact(ctx context.Context, sess skein.Session, p importer.ProvenanceOf) error {
	unit, name := records.SplitPath(&x.format, p.File.Path)
	below := belowHome(&x.format, unit)
	data, err := sourceBytes(ctx, x.store, x.format.Name, p.File.Path)
	if gaps := (*GapError)(nil); errors.As(err, &gaps) {
		for _, g := range gaps.Gaps {
			x.hurt.add(sess.ID, fmt.Sprintf("%v of the source file: %v", g, g.Err))
		}
		if x.format.Write != nil {
			x.anew[sess.ID] = true
			return x.one(ctx, sess)
		}
		err = nil
	}
	if err != nil {
		return err
	}
	spot := interop.Spot{ID: p.File.ID, Path: below, Name: name}
	as := interop.AFile
	if records.InUnit(&x.format, p.File) {
		as = interop.AUnit
	}
	texts := []interop.SourceText{{Path: below, Name: name, Lines: []interop.OutLine{{Body: lines.RopeOf(data)}}, As: as}}
	if name != "" && as == interop.AUnit { // of the frame, what makes the tables
		frame, err := sourceBytes(ctx, x.store, x.format.Name, unit)
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
		texts = append(texts, interop.SourceText{Path: below, Lines: []interop.OutLine{{Body: lines.RopeOf(frame)}}, As: as})
	}
	x.files[p.File.Path] = true
	x.spots[sess.ID] = spot
	return x.place(ctx, inBatch{sess: sess, wrote: interop.Written{ID: p.File.ID, Texts: texts}, exactly: unit, of: x.now}, p)
}

// seen reports whether the program would find a source written where it was read from,
// path. A file that was imported from a folder of its own is, unchanged, where no
// program looks.
func (x *exporter) seen(sess skein.Session, file skein.SourceFile) bool {
	if records.DecodeState(file.State).Lone && x.format.Write != nil {
		return false
	}
	if len(x.o.Places) == 0 {
		return true
	}
	unit, _ := records.SplitPath(&x.format, file.Path)
	below := belowHome(&x.format, unit)
	return importer.IsIn(x.o.Places, filepath.Join(x.home, filepath.FromSlash(below))) && (x.format.Finds == nil || x.format.Finds(below, sess))
}
