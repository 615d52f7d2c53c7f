package interop

import (
	"context"
	"errors"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
)

// maxPeeks is how many sources of one unit are looked into to see whether a
// session comes of them; the others are taken for sessions.
const maxPeeks = 1000

var errSeen = errors.New("seen enough")

// peek reads a file, or a source of a unit, up to the first record that begins
// its session, and reports whether there is one and whether it was destroyed
// here. Of what cannot be read it says that there is one: the import will tell.
func (fd *finder) peek(ctx context.Context, w *work) (begins, destroyed bool) {
	if w.format.Load != nil {
		return true, false // it holds events, which begin a session
	}
	var main Begin
	w.begin()
	err := guarded(func() error {
		return w.read(ctx, func(r read) error {
			for _, b := range r.made.Begin {
				if b.Name == "" {
					main = b
				}
			}
			if len(r.made.Items) == 0 || r.made.Floating {
				return nil
			}
			return errSeen
		})
	})
	switch {
	case err == nil:
		return false, false
	case !errors.Is(err, errSeen):
		return true, false
	}
	o := skein.Origin{Format: w.format.Name, Path: sourcePath(w.file().Path, w.name), ID: string(main.ID)}
	if main.Created.Origin != nil {
		o.ID = main.Created.Origin.ID
	}
	return true, fd.destroyed[erase.TombOfID(main.ID)] || fd.destroyed[erase.TombOfOrigin(o)]
}

func guarded(do func() error) (err error) {
	defer guard(&err)
	return do()
}

// tombstones reads what was destroyed here.
func (fd *finder) tombstones(ctx context.Context) error {
	s := fd.im.store
	if m, ok := s.(mending); ok {
		s = m.Store
	}
	b, ok := skein.PartOf[erase.Burier](s)
	if !ok {
		return nil
	}
	for stone, err := range b.Tombstones(ctx) {
		if err != nil {
			return err
		}
		fd.destroyed[stone.Hash] = true
	}
	return nil
}
