package interop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/skein-dev/skein"
)

// gone is the records that were removed from a file: of each 8 bytes of the
// SHA-256 of its key, and one with how many events it made, 255 for more. A
// file may lose tens of thousands of records at once, and the list is kept
// with every piece of the file until it has been read to its end.
type gone []byte

const goneSize = 9

type goneHash [goneSize - 1]byte

func hashKey(key skein.ClientID) goneHash {
	sum := sha256.Sum256([]byte(key))
	return goneHash(sum[:])
}

// add adds a record that made n events.
func (g *gone) add(key goneHash, n int) { *g = append(append(*g, key[:]...), byte(min(n, 255))) }

// miss notes a record that makes is events now, and made was.
func (s *state) miss(key goneHash, is, was int) {
	switch {
	case is == 0:
		s.Gone.add(key, was)
	case is < was:
		s.Fewer.add(key, was)
	}
}

// counts returns how many events each record made.
func (g gone) counts() map[goneHash]int {
	counts := make(map[goneHash]int, len(g)/goneSize)
	for one := range slices.Chunk(g, goneSize) {
		counts[goneHash(one)] = int(one[goneSize-1])
	}
	return counts
}

// made reports whether one of the records in counts made the event with this
// client ID; see clientID. One of several may have been the only one once.
func made(counts map[goneHash]int, id skein.ClientID) bool {
	if counts[hashKey(id)] > 0 {
		return true
	}
	key, i, ok := partOf(id)
	n := counts[hashKey(key)]
	return ok && n > 1 && (i < n || n == 255)
}

// withdraw appends what says that the records which are gone from the file are
// withdrawn.
func (t *target) withdraw() {
	if len(t.w.state.Gone) == 0 {
		return
	}
	counts := t.w.state.Gone.counts()
	for _, th := range t.order {
		var lost []*stand
		for id, st := range th.stands {
			if !st.withdrawn && !st.damaged && st.seq > th.base && !structural(st.kind) && made(counts, id) {
				lost = append(lost, st)
			}
		}
		th.withdraw(lost)
	}
}

// withdrawUnused withdraws what a record made that made n events and makes fewer
// now: what stands under one of their client IDs and is not used any more.
func (t *target) withdrawUnused(ctx context.Context, key skein.ClientID, n int, used map[skein.ClientID]bool) error {
	for _, th := range t.order {
		if !th.begun {
			continue
		}
		if err := t.begin(ctx, th, key); err != nil { // it looks at what the store has
			return err
		}
		var lost []*stand
		for _, id := range clientIDs(key, n) {
			if st := th.stands[id]; st != nil && !used[id] && !slices.Contains(lost, st) && !st.withdrawn && !st.damaged && st.seq > th.base && !structural(st.kind) {
				lost = append(lost, st)
			}
		}
		th.withdraw(lost)
	}
	return nil
}

// withdraw appends what says that these are withdrawn, in their order.
func (t *thread) withdraw(lost []*stand) {
	slices.SortFunc(lost, func(a, b *stand) int { return cmp.Compare(a.seq, b.seq) })
	for _, st := range lost {
		st.withdrawn, st.gone = true, true
		e := amendment(skein.Event{}, st, skein.Amended{Seq: st.seq, Withdrawn: true})
		t.events = append(t.events, waiting{e, -1, nowhere})
	}
}
