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

// tombs returns the hashes that a batch must not have a tombstone with.
func (p *packed) tombs() [][]byte {
	if p.Session == "" {
		return nil
	}
	all := [][]byte{idTomb(p.Session)}
	for i := range p.events {
		if c := p.events[i].f.Created; c != nil && c.Origin != nil && p.Import != nil {
			all = append(all, originTomb(c.Origin))
		}
	}
	return all
}

// checkTombstones refuses what would bring a deleted session back, unless it
// is to come back.
func (w *work) checkTombstones(p *packed) error {
	for _, hash := range p.tombs() {
		if !w.tombs[string(hash)] {
			continue
		}
		if !p.Again {
			return fmt.Errorf("session %s %w", p.Session, skein.ErrDeleted)
		}
		put(w, w.tombs, string(hash), false)
		w.lift = append(w.lift, hash)
	}
	return nil
}
