package ledger

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
)

// alteredSum is the sum of a row whose texts, when the row was written to, were not
// what had been stored. No texts have this sum. The events have the true texts.
const alteredSum = -2

// Sum returns the checksum to store beside the texts of h that people read. A row that
// was found altered is not given a valid one.
func (h *Head) Sum() int64 {
	if h.Altered {
		return alteredSum
	}
	return h.sum()
}

// Check sets h.Altered according to the stored checksum of h's texts.
func (h *Head) Check(sum int64) { h.Altered = sum != h.sum() }

// sum returns the CRC-32C of the texts, each preceded by its length (a varint). Bytes
// that are not UTF-8 count as U+FFFD, because some stores have these instead.
func (h *Head) sum() int64 {
	parent, origin := skein.Parent{}, skein.Origin{}
	if h.Parent != nil {
		parent = *h.Parent
	}
	if h.Origin != nil {
		origin = *h.Origin
	}
	texts := []string{
		string(h.ID), string(h.User), h.Key, h.Title, string(h.TitleBy), h.Description, h.First, h.LastPrompt, h.Surface,
		h.Project, h.Cwd, h.Agent, h.Profile, h.Provider, h.Model, string(parent.Session), string(parent.Why), parent.Call,
		origin.Format, origin.Path, origin.ID, origin.Version, h.Status,
	}
	for _, text := range h.Checkout.Texts() {
		texts = append(texts, *text)
	}
	all := make([]byte, 0, 512)
	for _, list := range [...][]string{texts, h.Tags} {
		for _, text := range list {
			if !utf8.ValidString(text) {
				text = string([]rune(text))
			}
			all = append(binary.AppendUvarint(all, uint64(len(text))), text...)
		}
	}
	return int64(crc32.Checksum(all, crc32.MakeTable(crc32.Castagnoli)))
}

// A TextLog is what [Head.Retell] needs from a store.
type TextLog interface {
	walk.LiveLog
	walk.PastLog

	// Own calls do for each event of a segment. Instead of a damaged event it passes
	// its placeholder. A missing event ends it with an error that wraps
	// [skein.ErrCorrupt].
	Own(seg walk.Segment, do func(e skein.Event, piece bool) error) error
}

// Retell sets the texts of h, which shows segs, to what its events say, and, if h is
// lost, also the counts, but not its usage. If some of the events are damaged, it sets
// h.Damaged. Errors are the log's.
func (h *Head) Retell(l TextLog, segs walk.Segments) error {
	base, err := walk.Past(l, segs, h.Said)
	if err != nil {
		return err
	}
	x, damaged, err := h.FoldOwn(l, segs[0], base)
	if err != nil {
		return err
	}
	live, err := walk.Live(l, segs, h.Last)
	if err != nil {
		return err
	}
	if h.Lost {
		now := x
		live.Show(&base)
		now.SetShown(base)
		now.Undone, now.Base, now.Last = base.Undone, h.Base, h.Last
		now.User, now.Key, now.Binned, now.LockedBy = h.User, h.Key, h.Binned, h.LockedBy
		h.Session = now
	}
	live.Retell(&h.Session, x, map[string]string{})
	h.Prompts, h.Damaged = live.Prompts, damaged || live.Hurt
	return nil
}

// FoldOwn folds h's own events, which are those of own, on base, which is what it shows
// of its parent. It goes around damaged events and reports whether there were any.
// Errors are the log's.
func (h *Head) FoldOwn(l TextLog, own walk.Segment, base skein.Shown) (x skein.Session, damaged bool, err error) {
	x = skein.Session{ID: h.ID}
	own.From = h.Base
	err = l.Own(own, func(e skein.Event, piece bool) error {
		damaged = damaged || e.IsPlaceholder()
		f, err := skein.FactsOf(e)
		if err == nil {
			_, err = x.Apply(&e, f, skein.Prior{Message: piece, Base: base})
		}
		return err
	})
	if errors.Is(err, skein.ErrCorrupt) {
		damaged, err = true, nil
	}
	return x, damaged, err
}
