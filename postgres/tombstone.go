package postgres

import (
	"crypto/sha256"
	"fmt"

	"github.com/skein-dev/skein"
)

// idTomb and originTomb are the hashes by which a deleted session is known.
func idTomb(id skein.SessionID) []byte { return tomb("id", string(id)) }

func originTomb(o *skein.Origin) []byte { return tomb("origin", o.Format, o.Path, o.ID) }

func tomb(parts ...string) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return h.Sum(nil)
}

// A tombOf is a tombstone: its hash, and whose it is. IDs are everybody's, so
// whose an ID's tombstone is does not count: there the user is "".
type tombOf struct {
	hash string
	user skein.User
}

// tombs returns the tombstones that there must not be for a batch.
func (p *packed) tombs() (all []tombOf) {
	if p.Session == "" {
		return nil
	}
	all = append(all, tombOf{hash: string(idTomb(p.Session))})
	for i := range p.events {
		if c := p.events[i].f.Created; c != nil && c.Origin != nil && p.Import != nil {
			all = append(all, tombOf{string(originTomb(c.Origin)), c.User})
		}
	}
	return all
}

// buried reports whether there is the tombstone x, as far as it was looked for.
// Those of the local user may be anybody's: a file does not say whose its are.
func (w *work) buried(x tombOf) bool {
	return w.tombs[x] || x.user != "" && w.tombs[tombOf{x.hash, skein.Local}]
}

// checkTombstones refuses what would bring a deleted session back, unless it
// is to come back.
func (w *work) checkTombstones(p *packed) error {
	for _, x := range p.tombs() {
		if !w.buried(x) {
			continue
		}
		if !p.Again {
			return fmt.Errorf("session %s %w", p.Session, skein.ErrDeleted)
		}
		put(w, w.tombs, x, false)
		put(w, w.tombs, tombOf{x.hash, skein.Local}, false)
		w.lift = append(w.lift, []byte(x.hash))
	}
	return nil
}
