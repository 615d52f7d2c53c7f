package interop

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

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
func (g *gone) add(key skein.ClientID, n int) {
	h := hashKey(key)
	*g = append(append(*g, h[:]...), byte(min(n, 255)))
}

// without returns g without the records that are here, by how many events they
// make.
func (g gone) without(here map[goneHash]int) (left gone) {
	for one := range slices.Chunk(g, goneSize) {
		if here[goneHash(one)] == 0 {
			left = append(left, one...)
		}
	}
	return left
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
	at := strings.LastIndexByte(string(id), '/')
	if at < 0 {
		return false
	}
	i, err := strconv.Atoi(string(id[at+1:]))
	n := counts[hashKey(id[:at])]
	return err == nil && n > 1 && (i < n || n == 255)
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
			if !st.withdrawn && st.seq > th.base && !structural(st.kind) && made(counts, id) {
				lost = append(lost, st)
			}
		}
		th.withdraw(lost)
	}
}

// withdrawUnused withdraws what a record made that makes fewer events now: what
// stands under one of its client IDs that is not used any more.
func (t *target) withdrawUnused(key skein.ClientID, used map[skein.ClientID]bool) {
	for _, th := range t.order {
		var lost []*stand
		for _, id := range candidates(key) {
			if st := th.stands[id]; st != nil && !used[id] && !st.withdrawn && st.seq > th.base && !structural(st.kind) {
				lost = append(lost, st)
			}
		}
		th.withdraw(lost)
	}
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
