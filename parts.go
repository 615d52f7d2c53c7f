package skein

import (
	"fmt"
	"time"
)

// A Cursor is a place in all that a store was given, in the store's own words:
// only that store can say what it means. "" is the beginning.
type Cursor string

// FeedNow stands for the end of what is stored. The first that [Store.Feed]
// then yields has no event, only the cursor of that place.
const FeedNow Cursor = "now"

// A Fed is an event among those of all sessions.
type Fed struct {
	Cursor  Cursor // the place behind it
	Session SessionID
	User    User
	Event   Event
	Damaged bool // Event only stands in for one that cannot be read as it was written
}

// A Fence is a fencing number: it grows with every lease of a session, and a
// store refuses the writes of a lease that is not the newest. 0 is no lease.
type Fence int64

// A Lease is the right to write to a session. While somebody holds it, said,
// tool, step, compacted and rewound events need its Fence; others do not. A
// Fence that is given is always looked at: it must be the newest lease's, held
// or not.
type Lease struct {
	Session SessionID
	Fence   Fence
	Holder  Holder
	Expires Time // 0 if it is held by a process and does not expire
}

// A Holder is who holds a lease.
type Holder struct {
	Program string `json:"program,omitempty"` // such as "skein chat"
	PID     int    `json:"pid,omitempty"`     // 0 if it is not a process of this host
	Host    string `json:"host,omitempty"`
	Since   Time   `json:"since,omitzero"`
}

// String says who h is, for people: PID 4711 (skein chat, since 10:31). The
// time is in the local zone.
func (h Holder) String() string {
	who := h.Host
	if h.PID != 0 {
		who = fmt.Sprintf("PID %d", h.PID)
	}
	return fmt.Sprintf("%s (%s, since %s)", who, h.Program, h.Since.Std().In(time.Local).Format("15:04"))
}

// A LeaseRequest asks for a lease.
type LeaseRequest struct {
	Program   string        // who asks, for people
	TakeOver  bool          // end the lease of whoever holds it
	TTL       time.Duration // 0: held by this process for as long as it lives; else it must be renewed within this time
	Elsewhere Holder        // with a TTL: the PID and Host of a process that asks from elsewhere, for people
}

// A SourceFile is what a store knows of a file that sessions were imported
// from: how far it was read, and how to see that it has not changed since.
type SourceFile struct {
	Format  string    // name of the interop format
	Path    string    // absolute; Format and Path name the file
	Session SessionID // the main session in it; "" if it has none of its own
	ID      string    // the session's ID in its own program; "" if not known
	CopyOf  SessionID // where all that was read is a copy: the session that it is in
	Size    int64     // bytes, when it was last read
	Mtime   int64     // nanoseconds since 1970, when it was last read
	Inode   uint64    // 0 where there is none
	Offset  int64     // bytes of it that are stored as records
	Records int       // how many records these are
	Damaged int       // how many of them are damaged
	Head    Hash      // of its first bytes, up to 4096
	State   []byte    // what the format's reader wants to find again; at most 1 MB
}

// A Record is one source record: a line of a file, with its bytes as they are.
// Read in order, the records of a file are the file.
type Record struct {
	N      int      // 0 for the first of its file
	Offset int64    // of its first byte in the file
	Raw    []byte   // all its bytes, with what separates it from the next
	Key    ClientID // its events have the client IDs Key (if there is one) or Key/0, Key/1, …; "" if it has none
	Events int      // how many events it made
	Copy   bool     // these events stand in another session: it repeats another file's record
	Damage string   // what is wrong with it, for people; "" if nothing is
}

// Import is what a batch says of the file that its events come from. It is
// stored in the transaction of the events, so that events, records and how far
// the file was read can never disagree. A file belongs to the user of the batch's
// session; two users may have read the same one.
type Import struct {
	File    SourceFile // as it stands after Records
	Records []Record   // N without gaps, following those stored before; one stored before (the same N) is replaced
	Forget  bool       // the records stored from Records[0].N on (all if there are no Records) are dropped first: the file was rewritten
}

// A Place is where an event stands.
type Place struct {
	Session SessionID
	Seq     Seq
}
