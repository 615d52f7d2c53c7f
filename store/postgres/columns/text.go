package columns

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// Plain returns s as a text column can hold it: UTF-8 without NUL.
func Plain(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// PlainIDs is Plain for IDs.
func PlainIDs(ids []skein.SessionID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = Plain(string(id))
	}
	return out
}

// maxIndexed is the longest text that is put into an index unchanged, in bytes;
// PostgreSQL accepts none longer than 2,700.
const maxIndexed = 600

// Indexed returns s as stored in indexed text columns: like Plain, but a long text
// becomes its beginning and its hash.
func Indexed(s string) string {
	if s = Plain(s); len(s) <= maxIndexed {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return Plain(s[:maxIndexed-2*sha256.Size]) + hex.EncodeToString(sum[:])
}

// OrNull returns nil, which is NULL, for "".
func OrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Lines joins names with newlines to a column value, each once.
func Lines(names []string) *string {
	if len(names) == 0 {
		return nil
	}
	var b strings.Builder
	seen := map[string]bool{}
	for _, n := range names {
		if !seen[n] {
			if len(seen) > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(n)
			seen[n] = true
		}
	}
	s := Plain(b.String())
	return &s
}

// Hash returns the 32 bytes of h, as stored in blobs.hash.
//
// The error wraps [skein.ErrInvalid] if it is not a hash.
func Hash(h skein.Hash) ([]byte, error) {
	b, err := hex.DecodeString(string(h))
	if err != nil || len(b) != 32 {
		return nil, fmt.Errorf("%w blob %q", skein.ErrInvalid, h)
	}
	return b, nil
}

// OrEmpty returns list, or an empty one instead of nil, which would be NULL.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Int64s returns seqs as integers.
func Int64s(seqs []skein.Seq) []int64 {
	places := make([]int64, len(seqs))
	for i, seq := range seqs {
		places[i] = int64(seq)
	}
	return places
}
