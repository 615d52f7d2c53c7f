package erase

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
)

// minSecret is the length of the shortest secret that a scrub accepts, in bytes.
const minSecret = 4

// A Masker decides what a scrub changes, in every store: the store finds the rows of
// the session, shows them to the Masker, and writes what that returns. Blobs come
// first, because the events that refer to a changed blob change too.
type Masker struct {
	Done  skein.Scrubbed
	Texts map[string]string // texts in the rows of sessions, and what they became

	secrets []string
	blobs   map[skein.Hash]skein.Blob // by the hash of a blob with a secret: the blob that replaces it
}

// NewMasker returns a Masker of secrets.
//
// The error wraps [skein.ErrInvalid] if there are none, or one is so short that it
// would be found everywhere.
func NewMasker(secrets []string) (*Masker, error) {
	if len(secrets) == 0 || slices.ContainsFunc(secrets, func(s string) bool { return len(s) < minSecret }) {
		return nil, fmt.Errorf("%w secrets: want one or more, each of %d bytes or more", skein.ErrInvalid, minSecret)
	}
	return &Masker{Texts: map[string]string{}, secrets: secrets, blobs: map[skein.Hash]skein.Blob{}}, nil
}

// Mask is [Mask] for the secrets of m.
func (m *Masker) Mask(b []byte) ([]byte, bool) { return Mask(b, m.secrets) }

// Blob looks for secrets in the blob h; data and err are what reading it gave. A blob that
// is damaged is noted as not read. Other errors are returned.
func (m *Masker) Blob(h skein.Hash, data []byte, err error) error {
	if errors.Is(err, skein.ErrCorrupt) {
		m.Done.UnreadBlobs = append(m.Done.UnreadBlobs, h)
		return nil
	}
	if err != nil {
		return fmt.Errorf("blob %s: %w", h, err)
	}
	if clean, found := m.Mask(data); found {
		m.blobs[h] = skein.NewBlob(clean)
		m.Done.Blobs = len(m.blobs)
	}
	return nil
}

// Replacement returns the blob that replaces h; false if h has no secret.
func (m *Masker) Replacement(h skein.Hash) (skein.Blob, bool) {
	b, ok := m.blobs[h]
	return b, ok
}

// Payload returns the payload of an event without secrets and with the hashes of the
// blobs that replace those with one, which are moved; found is false if nothing changed.
func (m *Masker) Payload(payload []byte) (clean []byte, moved []skein.Blob, found bool) {
	clean, found = m.Mask(payload)
	for _, h := range slices.Sorted(maps.Keys(m.blobs)) {
		if now := m.blobs[h]; bytes.Contains(clean, []byte(h)) {
			clean, found = bytes.ReplaceAll(clean, []byte(h), []byte(now.Hash)), true
			moved = append(moved, now)
		}
	}
	return clean, moved, found
}

// Replaced returns the hashes of the blobs with a secret, in order, except keep: an
// event that refers to keep no longer refers to the others.
func (m *Masker) Replaced(keep []skein.Hash) []skein.Hash {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.blobs)), func(h skein.Hash) bool { return slices.Contains(keep, h) })
}

// Records masks the secrets in source records, in place, and returns how many changed. It
// does not count them as done: a store may try its transaction again.
func (m *Masker) Records(rs []skein.Record) (changed int) {
	for i := range rs {
		raw, found := m.Mask(rs[i].Raw)
		damage, said := m.Mask([]byte(rs[i].Damage))
		if found || said {
			rs[i].Raw, rs[i].Damage = raw, string(damage)
			changed++
		}
	}
	return changed
}

// An EventRun is a run of a session's events that a scrub goes through.
type EventRun[E any] struct {
	After, Upto skein.Seq
	Page        func(after skein.Seq) ([]E, error) // the next events after a seq; none if there are none
	Seq         func(*E) skein.Seq
}

// Each calls look for each event of s, in order, and notes in m those that have no row.
// The error is that of Page or of look.
func (s EventRun[E]) Each(m *Masker, look func(*E) error) error {
	for after := s.After; after < s.Upto; {
		page, err := s.Page(after)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			m.missing(after+1, s.Upto+1)
			return nil
		}
		for i := range page {
			at := s.Seq(&page[i])
			m.missing(after+1, min(at, s.Upto+1))
			if after = at; at > s.Upto {
				return nil
			}
			if err := look(&page[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing notes that the events from one seq up to, but without, another have no row.
func (m *Masker) missing(from, to skein.Seq) {
	for ; from < to; from++ {
		m.Done.Unread = append(m.Done.Unread, from)
	}
}

// Base returns what s showed of its base, without secrets: what the session's own
// events are folded onto.
func (m *Masker) Base(s *skein.Session) skein.Shown {
	base := skein.Shown{Project: m.text(s.Project), Cwd: m.text(s.Cwd), Checkout: s.Checkout, Agent: m.text(s.Agent), Model: m.text(s.Model)}
	for _, text := range base.Checkout.Texts() {
		*text = m.text(*text)
	}
	return base
}

// text returns a text from the row of a session without secrets.
func (m *Masker) text(text string) string {
	if now, ok := m.Texts[text]; ok { // a fork has texts of its parent
		return now
	}
	b, _ := m.Mask([]byte(text))
	return string(b)
}

// Session is [MaskSession] for the secrets of m.
func (m *Masker) Session(s skein.Session) skein.Session { return MaskSession(s, m.secrets) }

// Note returns the event that says, in the scrubbed session, what the scrub changed.
func (m *Masker) Note(at skein.Time) skein.Event {
	return skein.NewEvent(skein.KindNoted, at, skein.Noted{
		Name: "scrubbed", Level: "info",
		Data: skein.MustJSON(map[string]int{"events": m.Done.Events, "records": m.Done.Records, "blobs": m.Done.Blobs}),
	})
}

// NoLongerValid says that an event cannot be stored without its secrets, for a reason
// that wraps [skein.ErrInvalid].
func NoLongerValid(seq skein.Seq, why error) error {
	return fmt.Errorf("event %d would no longer be valid: %w", seq, why)
}
