package skein

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A SessionID names a session and never changes. [NewSessionID] makes UUIDv7s;
// imported sessions bring IDs of their own, up to [MaxIDLen] bytes.
type SessionID string

// A ClientID is the idempotency key of an event: a name that its writer gives it,
// so that sending it twice stores it once. It is unique in its session and has at
// most [MaxIDLen] bytes.
type ClientID string

// A User owns sessions. On a single machine, it is [Local].
type User string

// Local is the user of a store that has only one.
const Local User = "local"

// MaxIDLen is the longest SessionID, ClientID, key or User that a Store
// accepts, in bytes.
const MaxIDLen = 128

// A Seq is the position of an event in its session: 1, 2, 3 and so on, no gaps.
// In a fork, the parent's events keep their seqs and the fork's own events
// continue from there.
type Seq int64

// Fresh, as [Batch.After], requires that the session has not begun.
const Fresh Seq = -1

// NewSessionID returns a UUIDv7 (RFC 9562, section 5.7) for a session made at
// t: 48 bits of milliseconds since 1970, then 74 random bits, as 36 characters
// of lowercase hexadecimal and hyphens.
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

// Check returns an error wrapping [ErrInvalid] if id is empty, is longer than
// [MaxIDLen], is not UTF-8, contains a control character or a slash, or is
// . or .., which cannot be part of a URL's path.
func (id SessionID) Check() error {
	if id == "." || id == ".." {
		return Invalidf("session ID %q: no path can have it", string(id))
	}
	return checkName("session ID", string(id), true)
}

// checkName checks an ID, a key or a user. A name that is not needed may be empty.
func checkName(what, s string, needed bool) error {
	switch bad := func(r rune) bool { return r < ' ' || r == 0x7f || r == '/' && what != "key" && what != "client ID" }; {
	case s == "" && needed:
		return Invalidf("%s: it is empty", what)
	case len(s) > MaxIDLen:
		return Invalidf("%s %q: it has %d bytes, at most %d are allowed", what, s[:32]+"…", len(s), MaxIDLen)
	case !utf8.ValidString(s):
		return Invalidf("%s %q: it is not UTF-8", what, s)
	case strings.ContainsFunc(s, bad):
		return Invalidf("%s %q: it has a control character or a slash", what, s)
	}
	return nil
}

// Other returns the n-th ID, from 0, for a session whose own ID another user has. It
// always returns the same IDs, so that the session is found again. It is id, truncated
// if it is too long, followed by ~ and eight hexadecimal digits of the SHA-256 of id,
// a NUL and n.
func (id SessionID) Other(n int) SessionID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", id, n))
	short := strings.ToValidUTF8(string(id[:min(len(id), MaxIDLen-9)]), "")
	return SessionID(short + "~" + hex.EncodeToString(sum[:4]))
}

// A Time is a moment to the millisecond: milliseconds since 1970, UTC.
// 0 means that it is not known. In JSON and SQL it is text of one form,
// 2026-11-21T04:36:00.123Z, and "" if it is not known.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// The first and the last Time that can be written as text.
const (
	firstTime Time = -62167219200000 // 0000-01-01T00:00:00.000Z
	lastTime  Time = 253402300799999 // 9999-12-31T23:59:59.999Z
)

// At returns t as a Time. It returns 0 for the zero [time.Time] and for a time
// outside the years 0 to 9999, in UTC, which cannot be written as text.
func At(t time.Time) Time {
	if t.IsZero() || t.Before(firstTime.Std()) || t.After(lastTime.Std()) {
		return 0
	}
	return Time(t.UnixMilli())
}

// ParseTime parses an RFC 3339 time of any zone and precision; "" is 0.
//
// The error wraps [ErrInvalid] and quotes s; a time outside the years 0 to 9999,
// in UTC, is invalid too.
func ParseTime(s string) (Time, error) {
	if s == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, Invalidf("time %q: want one like %s", s, timeLayout)
	}
	if y := t.UTC().Year(); y < 0 || y > 9999 {
		return 0, Invalidf("time %q: it is in the year %d", s, y)
	}
	return At(t), nil
}

// Std returns t as a [time.Time] in UTC, or the zero time if t is not known.
func (t Time) Std() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}

// String returns t as text of 24 characters, or "" if it is not known.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return t.Std().Format(timeLayout)
}

// MarshalText implements [encoding.TextMarshaler].
//
// The error wraps [ErrInvalid] if t is not in the years 0 to 9999.
func (t Time) MarshalText() ([]byte, error) {
	if !t.valid() {
		return nil, Invalidf("time %d: year %d", int64(t), t.Std().Year())
	}
	return []byte(t.String()), nil
}

func (t Time) valid() bool { return t >= firstTime && t <= lastTime }

// UnmarshalText implements [encoding.TextUnmarshaler]; errors as [ParseTime].
func (t *Time) UnmarshalText(b []byte) (err error) {
	*t, err = ParseTime(string(b))
	return err
}

// Slot returns the start of the quarter hour that contains t: the unit of the
// usage rollup, from which the days of any time zone can be summed.
func (t Time) Slot() Time {
	const quarter = 15 * 60 * 1000
	return t - (t%quarter+quarter)%quarter
}

// GoString is for test output.
func (t Time) GoString() string { return fmt.Sprintf("skein.Time(%q)", t.String()) }

// A Checkout says where the work of a session happens, beside its project and
// folder: in which repository, and what was checked out there. Any field may be
// "" because it is not known.
type Checkout struct {
	Repository string `json:"repository,omitempty"` // the same in every clone: github.com/owner/name, or "root:" and the hash of the first commit
	Branch     string `json:"branch,omitempty"`     // "" if HEAD is detached, too
	Commit     string `json:"commit,omitempty"`     // hash, in hex
	Worktree   string `json:"worktree,omitempty"`   // name of a linked worktree
	Subfolder  string `json:"subfolder,omitempty"`  // path of the working directory below the working tree, with slashes
	Host       string `json:"host,omitempty"`       // name of the machine

	// LookedUp names, with spaces between them, the fields that no record of an
	// imported session said: repository, worktree, subfolder, host. Their values are
	// those that its folder had when the session was first imported.
	LookedUp string `json:"looked_up,omitempty"`
}

// rootPrefix begins the name of a repository that is known by its first commit.
const rootPrefix = "root:"

// fields yields the fields that can be looked up.
func (x *Checkout) fields() iter.Seq2[string, *string] {
	return func(yield func(string, *string) bool) {
		_ = yield("repository", &x.Repository) && yield("worktree", &x.Worktree) && yield("subfolder", &x.Subfolder) && yield("host", &x.Host)
	}
}

// Recorded returns x without what was looked up.
func (x Checkout) Recorded() Checkout {
	for name, value := range x.fields() {
		if x.lookedUp(name) {
			*value = ""
		}
	}
	x.LookedUp = ""
	return x
}

func (x *Checkout) lookedUp(name string) bool {
	return slices.Contains(strings.Fields(x.LookedUp), name)
}

// Filled returns x, which records said, with what they did not say of found, which
// is what the session's folder says now. Branch and commit are not filled in: they
// change. Neither is anything if the folder belongs to another repository than the
// records say. The first commit that a record names gives way to an address.
func (x Checkout) Filled(found Checkout) Checkout {
	if strings.HasPrefix(x.Repository, rootPrefix) && found.Repository != "" && !strings.HasPrefix(found.Repository, rootPrefix) {
		x.Repository = ""
	}
	if x.Repository != "" && x.Repository != found.Repository {
		return x
	}
	var names []string
	has := map[string]string{}
	for name, value := range found.fields() {
		has[name] = *value
	}
	for name, value := range x.fields() {
		if *value == "" && has[name] != "" {
			*value = has[name]
			names = append(names, name)
		}
	}
	x.LookedUp = strings.Join(names, " ")
	return x
}

// then returns what is known once a later event says said: all of it is replaced, but
// what was looked up stays until a record says it.
func (x Checkout) then(said Checkout) Checkout {
	if x.LookedUp == "" || said.LookedUp != "" {
		return said
	}
	for name, value := range x.fields() {
		if !x.lookedUp(name) && (name != "repository" || *value != said.Repository) {
			*value = ""
		}
	}
	return said.Filled(x)
}

// elsewhere returns x in another folder of the same project.
func (x Checkout) elsewhere() Checkout {
	x.Subfolder = ""
	x.LookedUp = strings.Join(slices.DeleteFunc(strings.Fields(x.LookedUp), func(name string) bool { return name == "subfolder" }), " ")
	return x
}

// Texts returns the texts of x, for what masks or sums up all texts of a session.
func (x *Checkout) Texts() []*string {
	return []*string{&x.Repository, &x.Branch, &x.Commit, &x.Worktree, &x.Subfolder, &x.Host, &x.LookedUp}
}

// Known returns x for an event's payload: nil if nothing of it is known.
func (x Checkout) Known() *Checkout {
	if x == (Checkout{}) {
		return nil
	}
	return &x
}
