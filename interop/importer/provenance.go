package importer

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/recording"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
)

// ProvenanceOf says where a session came from, and up to which event.
type ProvenanceOf struct {
	Found  bool
	File   skein.SourceFile
	Echoes records.Echoes
	reconcile.Divergence
}

// Provenance looks up the file of a format that holds a session.
//
// The error is the store's.
func Provenance(ctx context.Context, s skein.Store, format string, sess skein.Session) (p ProvenanceOf, err error) {
	if sess.Origin == nil || sess.Origin.Format != format {
		return p, nil
	}
	p.File, err = skein.SourcesOf(s).File(ctx, format, sess.Origin.Path)
	switch {
	case errors.Is(err, skein.ErrNotFound):
		return p, nil
	case err != nil:
		return p, err
	}
	p.Found = p.File.Session == sess.ID
	p.Echoes = records.DecodeState(p.File.State).Echoes
	if !p.Found {
		return p, nil
	}
	return p, p.look(ctx, s, sess)
}

// HandedOver looks up the file of a format that a session was exported to and that
// was read since, if it is in one of places.
//
// The error is the store's.
func HandedOver(ctx context.Context, s skein.Store, format string, sess skein.Session, places []string) (p ProvenanceOf, err error) {
	for f, err := range skein.SourcesOf(s).Files(ctx, format) {
		if err != nil {
			return p, err
		}
		if list := records.DecodeState(f.State).Echoes; f.Session == sess.ID && len(list) > 0 && IsIn(places, f.Path) {
			p = ProvenanceOf{Found: true, File: f, Echoes: list}
			return p, p.look(ctx, s, sess)
		}
	}
	return p, nil
}

// look compares the session's events with those that the records made.
func (p *ProvenanceOf) look(ctx context.Context, s skein.Store, sess skein.Session) error {
	b := reconcile.Bounds{Base: sess.Base, Last: sess.Last, Written: p.Echoes.Last()}
	if p.File.ID != "" {
		switch id, err := recordingOf(ctx, s, p.File.ID); {
		case err != nil:
			return err
		case id == sess.ID:
			b.Recorder = recording.ClientIDs
		}
	}
	made, err := madeBy(ctx, s, p.File)
	if bad := (*skein.DamagedRecordsError)(nil); errors.As(err, &bad) {
		made, err = imported(ctx, s, sess)
		b.Read = records.DecodeState(p.File.State).Seq
	}
	if err != nil {
		return err
	}
	p.Divergence, err = reconcile.Diverge(s.Events(ctx, sess.ID, sess.Base), made, b)
	return err
}

// madeBy returns what the stored records of a file make; for a file that is being read
// for the first time, only what the engine adds.
func madeBy(ctx context.Context, s skein.Store, f skein.SourceFile) (reconcile.Made, error) {
	made := reconcile.NewMade()
	for r, err := range skein.SourcesOf(s).Records(ctx, f.Format, f.Path, 0) {
		if errors.Is(err, skein.ErrNotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		made.Add(r)
	}
	return made, nil
}

// imported returns the client IDs of those events of a session that came from
// imports.
func imported(ctx context.Context, s skein.Store, sess skein.Session) (reconcile.Made, error) {
	made := reconcile.NewMade()
	var keys []skein.ClientID
	look := func() error {
		found, err := skein.SourcesOf(s).Find(ctx, keys)
		for id, at := range found {
			if at.Session == sess.ID {
				made[reconcile.WithoutMark(id)] = true
			}
		}
		keys = nil
		return err
	}
	for e, err := range s.Events(ctx, sess.ID, sess.Base) {
		if err != nil {
			return nil, err
		}
		if e.ClientID == "" {
			continue
		}
		if keys = append(keys, e.ClientID); len(keys) >= records.ChunkRecords {
			if err := look(); err != nil {
				return nil, err
			}
		}
	}
	return made, look()
}

// IsIn reports whether path is one of places or in one, or places is empty.
func IsIn(places []string, path string) bool {
	return len(places) == 0 || slices.ContainsFunc(places, func(place string) bool {
		rel, err := filepath.Rel(place, path)
		if err == nil && !filepath.IsLocal(rel) { // a session in a database: its path and #ID
			at := strings.LastIndexByte(path, '#')
			return at >= 0 && path[:at] == place
		}
		return err == nil
	})
}
