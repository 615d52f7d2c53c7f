package lookup

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// minShort is the shortest ID that lists show, in bytes.
const minShort = 8

// ShortIDs returns for each of ids, in their order, a short form for lists: its
// shortest end of 8 bytes or more that neither begins nor ends another of them,
// since UUIDv7s begin alike; its beginning if the end is not random, such as a date;
// all of it if no part is unique. [Resolve] finds the session by it, if the store has
// only ids.
func ShortIDs(ids []skein.SessionID) []string {
	s := newShortener(ids)
	short := make([]string, len(ids))
	for i, id := range ids {
		short[i] = s.short(string(id))
	}
	return short
}

// A shortener has the IDs sorted and, reversed, sorted by their ends.
type shortener struct{ ahead, turned []string }

func newShortener(ids []skein.SessionID) (s shortener) {
	for _, id := range ids {
		s.ahead = append(s.ahead, string(id))
		s.turned = append(s.turned, turn(string(id)))
	}
	slices.Sort(s.ahead)
	slices.Sort(s.turned)
	s.ahead, s.turned = slices.Compact(s.ahead), slices.Compact(s.turned)
	return s
}

// turn returns the bytes of s reversed.
func turn(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

func (s *shortener) short(id string) string {
	random := randomEnd(id)
	for n := minShort; n < len(id); n++ {
		part := id[:n]
		if random {
			part = id[len(id)-n:]
		}
		if part[0] != '-' && utf8.ValidString(part) && s.names(part) == 1 {
			return part
		}
	}
	return id
}

// names returns how many IDs begin or end with part; 2 for two or more.
func (s *shortener) names(part string) int {
	n := begin(s.ahead, part) + begin(s.turned, turn(part))
	return min(n, 2)
}

// begin returns how many of sorted begin with part; 2 for two or more.
func begin(sorted []string, part string) (n int) {
	for i := sort.SearchStrings(sorted, part); i < len(sorted) && n < 2 && strings.HasPrefix(sorted[i], part); i++ {
		n++
	}
	return n
}

// randomEnd reports whether the end of id looks random: id is a UUID, or its last 8
// bytes are letters and digits, with some of each.
func randomEnd(id string) bool {
	if len(id) == 36 && id[8] == '-' && id[23] == '-' {
		return true
	}
	letters, digits := 0, 0
	for i := max(0, len(id)-minShort); i < len(id); i++ {
		switch c := id[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters++
		case '0' <= c && c <= '9':
			digits++
		}
	}
	return letters > 0 && digits > 0 && letters+digits == minShort
}
