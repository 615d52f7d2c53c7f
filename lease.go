package skein

import (
	"fmt"
	"time"
)

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
