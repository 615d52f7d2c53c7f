package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/inspect"
)

// alteredSum is the sessions.sum of a row whose texts, when the row was written
// to, were not what had been stored. No texts have this sum. The events have
// the true texts.
const alteredSum = -2

// sum returns sessions.sum: the CRC-32C of the texts of the row that people
// read, each preceded by its length (a varint).
func (h *head) sum() int64 {
	parent, origin := skein.Parent{}, skein.Origin{}
	if h.Parent != nil {
		parent = *h.Parent
	}
	if h.Origin != nil {
		origin = *h.Origin
	}
	texts := [...]string{
		string(h.ID), string(h.User), h.Key, h.Title, string(h.TitleBy), h.Description, h.First, h.LastPrompt, h.Surface,
		h.Project, h.Cwd, h.Agent, h.Profile, h.Provider, h.Model, string(parent.Session), string(parent.Why), parent.Call,
		origin.Format, origin.Path, origin.ID, origin.Version, h.Status,
	}
	all := make([]byte, 0, 512)
	for _, list := range [...][]string{texts[:], h.Tags} {
		for _, text := range list {
			all = append(binary.AppendUvarint(all, uint64(len(text))), text...)
		}
	}
	return int64(crc32.Checksum(all, castagnoli))
}

// sumColumn returns the value to write to sessions.sum. An append does not give
// a row that was altered a valid sum.
func (h *head) sumColumn() int64 {
	if h.altered {
		return alteredSum
	}
	return h.sum()
}

// retell sets the texts of h from its events. For damaged events, the texts say so.
func (s *Store) retell(c *conn, h *head) error {
	segs, err := c.segments(h.n, h.Last)
	if err != nil {
		return err
	}
	l := walker{s, c, nil}
	base, err := walk.Past(l, segs, h.Said)
	if err != nil {
		return err
	}
	x, err := s.sumUp(c, h, base)
	if err != nil && !errors.Is(err, skein.ErrCorrupt) {
		return err
	}
	stands, err := walk.Live(l, segs, h.Last)
	if err != nil {
		return err
	}
	stands.Retell(&h.Session, x, map[string]string{})
	h.Prompts, h.altered = stands.Prompts, false
	return nil
}

// sumUp folds h's own events. It skips damaged ones; then the error wraps
// [skein.ErrCorrupt], and the session is what could be read.
func (s *Store) sumUp(c *conn, h *head, base skein.Shown) (x skein.Session, damage error) {
	x = skein.Session{ID: h.ID}
	for after, at := h.Base, skein.Seq(-1); after < h.Last; {
		if at == after {
			return x, fmt.Errorf("event %d of session %s: %w", after+1, h.ID, skein.ErrCorrupt)
		}
		at = after
		err := c.query(selectEvent+`WHERE e.session = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`, []any{h.n, int64(after), pageRows}, func(row []driver.Value) error {
			e, said, err := s.scanEvent(row)
			if bad := (*skein.DamagedError)(nil); errors.As(err, &bad) {
				damage, e, err = err, bad.Placeholder(), nil
			}
			if err != nil {
				return err
			}
			after = e.Seq
			f, err := skein.FactsOf(e)
			if err == nil {
				_, err = x.Apply(&e, f, skein.Prior{Message: said.piece, Base: base})
			}
			return err
		})
		if err != nil {
			return x, err
		}
	}
	return x, damage
}

// heads looks for rows whose texts are not what was stored, and restores them
// from the events.
func (ex *exam) heads(area string) error {
	var bad []head
	err := ex.read(func(c *conn) error {
		return c.query(`SELECT `+headColumns+` FROM sessions s ORDER BY s.n`, nil, func(row []driver.Value) error {
			h, err := headScan(func(dest ...any) error { return scan(row, dest) })
			if h.altered {
				bad = append(bad, h)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	for h := range slices.Values(bad) {
		text := "what lists say of it, such as its title, is not what was stored; its events say what it is"
		err := ex.Mend(inspect.Finding{Area: area, Level: inspect.Damaged, Session: h.ID, Text: text}, func() error {
			return ex.s.write(ex.ctx, func(t *tx) error {
				t.heads.clear()
				was, err := t.head(h.ID)
				if err != nil || !was.altered {
					return err
				}
				now := was
				if err := ex.s.retell(t.conn, &now); err != nil {
					return err
				}
				t.changed = append(t.changed, h.ID)
				return t.putHead(&was, &now)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
