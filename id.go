package skein

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// A SessionID names a session and never changes. Those from [NewSessionID]
// are UUIDv7; imported sessions bring their own text, up to [MaxIDLen] bytes.
type SessionID string

// A ClientID is a name that a writer gives an event, so that sending it twice
// stores it once. It is unique in its session; up to [MaxIDLen] bytes.
type ClientID string

// A User owns sessions. On one machine that is [Local].
type User string

// Local is the user of a store that has only one.
const Local User = "local"

// MaxIDLen is the longest SessionID, ClientID, key or User that a Store
// takes, in bytes.
const MaxIDLen = 128

// A Seq is the place of an event in its session: 1, 2, 3 and so on, no gaps.
// In a fork the parent's events keep their places and the fork's own go on
// from there.
type Seq int64

// Fresh, as [Batch.After], says that the session must not have begun.
const Fresh Seq = -1

// NewSessionID returns a UUIDv7 (RFC 9562, section 5.7) for a session made at
// t: 48 bits of milliseconds since 1970, then 74 random ones, as 36 characters
// of lower-case hexadecimal and hyphens.
func NewSessionID(t time.Time) SessionID {
	var b [16]byte
	rand.Read(b[:])
	ms := uint64(t.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return SessionID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// Check reports an error wrapping [ErrInvalid] if id is empty, longer than
// [MaxIDLen], not UTF-8, has a control character or a slash in it, or is one of
// the names . and .., which no path of a URL can have.
func (id SessionID) Check() error {
	if id == "." || id == ".." {
		return invalidf("session ID %q: no path can have it", string(id))
	}
	return checkName("session ID", string(id), true)
}

// checkName is the rule for IDs, keys and users; only a needed one may not be
// empty.
func checkName(what, s string, needed bool) error {
	switch bad := func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' && what != "key" && what != "client ID" }; {
	case s == "" && needed:
		return invalidf("%s: it is empty", what)
	case len(s) > MaxIDLen:
		return invalidf("%s %q: it has %d bytes, at most %d are allowed", what, s[:32]+"…", len(s), MaxIDLen)
	case !utf8.ValidString(s):
		return invalidf("%s %q: it is not UTF-8", what, s)
	case strings.ContainsFunc(s, bad):
		return invalidf("%s %q: it has a control character or a slash", what, s)
	}
	return nil
}

// Other returns the n-th ID, from 0, that a session gets where another user has its
// own: always the same ones, so that it is found by them again. It is id, cut where
// it is too long, with ~ and eight hexadecimal digits of the SHA-256 of id, a NUL and
// n behind it.
func (id SessionID) Other(n int) SessionID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", id, n))
	short := strings.ToValidUTF8(string(id[:min(len(id), MaxIDLen-9)]), "")
	return SessionID(short + "~" + hex.EncodeToString(sum[:4]))
}
