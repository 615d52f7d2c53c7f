package reconcile

import (
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
)

// CreatedID is the client ID of the created event of an imported session.
const CreatedID skein.ClientID = "created"

// RewoundID is the client ID of the event after it, in a fork that begins with a
// rewind.
const RewoundID = CreatedID + "/rewound"

// amendedPrefix begins the client IDs of amendments and withdrawals.
const amendedPrefix = "amended/"

// shownPrefix begins the client IDs of rewinds after which an import says again what
// the source shows.
const shownPrefix = "shown/"

// repeatedMark ends the client ID of an amendment that is repeated.
const repeatedMark = "/again"

// Reserved reports whether a client ID belongs to an event that the engine makes by
// itself, so that no record's key may be equal to it.
func Reserved(id skein.ClientID) bool {
	return id == CreatedID || id == RewoundID || IsShown(id) || strings.HasPrefix(string(id), amendedPrefix)
}

// ShownID returns the client ID of a rewind after which what the source shows is said
// again, in a session that ended at last. The events after it that say something again
// have client IDs of [Again].
func ShownID(last skein.Seq) skein.ClientID {
	return shownPrefix + skein.ClientID(strconv.FormatInt(int64(last), 10))
}

// IsShown reports whether a client ID is one of [ShownID].
func IsShown(id skein.ClientID) bool { return strings.HasPrefix(string(id), shownPrefix) }

// ClientID returns the client ID of event i of the n that a record with this key
// makes.
func ClientID(key skein.ClientID, i, n int) skein.ClientID {
	if n == 1 {
		return key
	}
	return key + "/" + skein.ClientID(strconv.Itoa(i))
}

// ClientIDs returns the client IDs that a record with this key uses, whether it makes
// one event or n.
func ClientIDs(key skein.ClientID, n int) []skein.ClientID {
	ids := []skein.ClientID{key}
	for i := range n {
		ids = append(ids, ClientID(key, i, n))
	}
	return ids
}

// Candidates returns the client IDs that the message of a record with this key
// may have: what else the record makes depends on the records before it.
func Candidates(key skein.ClientID) []skein.ClientID { return ClientIDs(key, 4) }

// PartOf is the inverse of [ClientID] for a record that makes several events.
func PartOf(id skein.ClientID) (key skein.ClientID, i int, ok bool) {
	at := strings.LastIndexByte(string(id), '/')
	if at < 0 {
		return "", 0, false
	}
	i, err := strconv.Atoi(string(id[at+1:]))
	return id[:at], i, err == nil && i >= 0
}

// Mark returns a suffix for an ID that is taken: a tilde and 8 hexadecimal digits
// of the hash of s.
func Mark(s string) string { return "~" + string(skein.NewBlob([]byte(s)).Hash)[:8] }

// Again returns the client ID of an event that is said again because of a change.
func Again(id, change skein.ClientID) skein.ClientID {
	return WithoutMark(id) + skein.ClientID(Mark(string(id)+"\x00"+string(change)))
}

// WithoutMark returns a client ID without the suffix that a [Diff] appended to it.
func WithoutMark(id skein.ClientID) skein.ClientID {
	if at := strings.LastIndexByte(string(id), '~'); at > 0 && len(id)-at == len("~01234567") {
		return id[:at]
	}
	return id
}

// A Made is the client IDs of the events that the records of a source make,
// without marks.
type Made map[skein.ClientID]bool

// NewMade returns the events that the engine makes for every source.
func NewMade() Made { return Made{CreatedID: true, RewoundID: true} }

// Add adds the events of a stored record.
func (m Made) Add(r skein.Record) {
	for i := range r.Events {
		m[ClientID(r.Key, i, r.Events)] = true
	}
}

// Has reports whether an event came from one of the records.
func (m Made) Has(e skein.Event) bool {
	return m[WithoutMark(e.ClientID)] || IsShown(e.ClientID) || strings.HasPrefix(string(e.ClientID), amendedPrefix)
}
