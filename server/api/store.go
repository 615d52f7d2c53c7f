package api

import (
	"encoding/json"
	"time"

	"github.com/skein-dev/skein"
)

// Protocol is the version of the routes under /v1/store. It is raised when the
// meaning of a route changes, and also when more can be asked for: a server
// refuses what it does not know.
const Protocol = 10

// About is what a server says about itself to a client that opens a store.
type About struct {
	Protocol int        `json:"protocol"`
	Version  string     `json:"version"` // of the program
	Scope    string     `json:"scope"`   // of the token
	User     skein.User `json:"user,omitempty"`
}

// An Interval is a time.Duration, in nanoseconds.
type Interval = time.Duration

// A Lease is a [skein.Lease] as JSON.
type Lease struct {
	Session skein.SessionID `json:"session"`
	Fence   skein.Fence     `json:"fence"`
	Holder  skein.Holder    `json:"holder"`
	Expires skein.Time      `json:"expires_at,omitzero"`
}

// An Acquire asks for a lease.
type Acquire struct {
	Session  skein.SessionID `json:"session"`
	Program  string          `json:"program,omitempty"`
	TakeOver bool            `json:"take_over,omitempty"`
	TTL      Interval        `json:"ttl_ns"` // nanoseconds; more than 0
	PID      int             `json:"pid,omitempty"`
	Host     string          `json:"host,omitempty"`
}

// A Renew asks to extend a lease.
type Renew struct {
	Session skein.SessionID `json:"session"`
	Fence   skein.Fence     `json:"fence"`
	TTL     Interval        `json:"ttl_ns"` // nanoseconds
}

// A Deletion is a [skein.Deletion] as JSON.
type Deletion struct {
	Session  skein.SessionID `json:"session"`
	Children skein.ChildRule `json:"children,omitempty"`
	After    skein.Seq       `json:"after,omitempty"`
}

// A Deleted is a [skein.Deleted] as JSON.
type Deleted struct {
	Events   int               `json:"events"`
	Moved    []skein.SessionID `json:"moved,omitempty"`
	Binned   []skein.SessionID `json:"binned,omitempty"`
	Children []skein.SessionID `json:"children,omitempty"`
	Bytes    int64             `json:"bytes"`
}

// A Lag is a [inspect.Lag] as JSON.
type Lag struct {
	Events int        `json:"events"`
	Since  skein.Time `json:"since,omitzero"`
}

// A Scrub asks to remove secrets from a session; they are in base64, because
// they may be any bytes.
type Scrub struct {
	Session skein.SessionID `json:"session"`
	Secrets [][]byte        `json:"secrets64"`
}

// A Scrubbed is a [skein.Scrubbed] as JSON.
type Scrubbed struct {
	Events  int               `json:"events"`
	Records int               `json:"records"`
	Blobs   int               `json:"blobs"`
	Forks   []skein.SessionID `json:"forks,omitempty"`
	Beyond  []string          `json:"beyond,omitempty"`
	Moved   []string          `json:"moved,omitempty"`
	Pending string            `json:"pending,omitempty"`

	Unread        []skein.Seq  `json:"unread_events,omitempty"`
	UnreadRecords int          `json:"unread_records,omitempty"`
	UnreadBlobs   []skein.Hash `json:"unread_blobs,omitempty"`
}

// A Place is the session and seq of the event with a client ID.
type Place struct {
	ClientID skein.ClientID  `json:"client_id"`
	Session  skein.SessionID `json:"session"`
	Seq      skein.Seq       `json:"seq"`
}

// An Entry is a [skein.Entry] as exact JSON: Raws has the bytes of other
// programs' JSON wherever encoding/json would change them.
type Entry struct {
	skein.Entry
	Raws [][]byte `json:"raws64,omitempty"`
}

// EntryOf returns e as it is sent over the wire.
func EntryOf(e skein.Entry) Entry {
	out := Entry{Entry: e}
	raws := rawsOf(&e.Message)
	exact := true
	for _, r := range raws {
		exact = exact && (len(*r) == 0 || string(skein.MustJSON(*r)) == string(*r))
	}
	for _, r := range raws {
		if !exact {
			out.Raws = append(out.Raws, *r)
		}
	}
	return out
}

// Exact returns e with the original bytes.
func (e Entry) Exact() skein.Entry {
	raws := rawsOf(&e.Message)
	for i := range min(len(raws), len(e.Raws)) {
		*raws[i] = e.Raws[i]
	}
	return e.Entry
}

// rawsOf returns pointers to the fields of a message that hold bytes of other
// programs.
func rawsOf(m *skein.Message) []*json.RawMessage {
	out := []*json.RawMessage{&m.Meta}
	for i := range m.Parts {
		p := &m.Parts[i]
		out = append(out, &p.Raw, &p.Meta)
		if p.Call != nil {
			out = append(out, &p.Call.Input)
		}
		if p.Result != nil {
			out = append(out, &p.Result.Raw)
		}
	}
	return out
}

// A Fed is the data of an event of GET /v1/stream; its cursor is the SSE
// event's ID.
type Fed struct {
	Session skein.SessionID `json:"session"`
	User    skein.User      `json:"user"`
	Event   Event           `json:"event"`
	Damaged bool            `json:"damaged,omitempty" doc:"true if this is a placeholder for an event that cannot be read"`
}
