package skein

import (
	"context"
	"errors"
	"iter"
)

// A Store keeps events. Every implementation passes package storetest, and the
// promises of its methods are the names of the tests there.
//
// All methods are safe for use by many goroutines. A method that returns an
// iterator does its work while the caller ranges, holds no lock between two
// values, stops when the caller stops, and yields at most one error, last.
//
// Where a method says that it wraps [ErrNotFound], a session of another user
// is not found either, if the store is one user's view.
//
// After Close every method returns, or yields, an error wrapping [ErrClosed].
//
// A Store does more than this: leases, deleting, source files, a feed. These are
// interfaces of their own, [Leases], [Lifecycle], [Sources] and [Feed], which
// [LeasesOf] and its like find in it. A Store that wraps another one embeds it and
// has a method Unwrap() Store; to change a method of such an interface it embeds
// that interface too.
type Store interface {
	// Append stores the events of all batches, all or none, and returns a
	// receipt for each. It leaves the batches as they were and may keep what
	// they point to; the caller must not change that later.
	//
	// A nil error means that the events are on disk and every later read has
	// them. An error other than [ErrUnknown] means that none of them is, or
	// ever will be. ctx may stop the work before the commit, never the commit.
	//
	// An event whose ClientID the session has is not stored again: it is
	// looked up before After and Fence are looked at, and compared by kind
	// and payload, not by time. The session has what it shows of its parent
	// too; of several with the ID (each session may have a created event
	// with the same one) the newest counts. An event that was scrubbed
	// matches whatever the content. After and Fence are compared only if
	// the batch has anything that is not stored yet, then for all of it.
	//
	// A fork's parent must be there, be the same user's, and have begun and
	// reached that seq. Children and continuations may come before their
	// parents. Every blob that an event refers to must be in the batch, in
	// one before it in the call, or referred to by an event of the same
	// user. An amended event's payload must fit the event that it is about.
	//
	// The error wraps [ErrConflict] (as a *[ConflictError]) if a session does
	// not end at Batch.After, [ErrFenced] if Batch.Fence is stale,
	// [ErrLocked] (as a *[LockedError]) if somebody holds the lease, the
	// batch has no Fence and an event needs one, [ErrMismatch], [ErrDeleted]
	// if the session's ID, a fork's parent or the origin of an Import has a
	// tombstone of the same user (for the ID and the origin, Batch.Again
	// lifts it; a store that is no view, which is to append to a session that
	// it does not begin, looks at everybody's),
	// [ErrExists] if a live session has the key, or another user the ID,
	// [ErrInvalid], [ErrFull], [ErrReadOnly], [ErrReplaced], or one of
	// [Session.Apply].
	Append(ctx context.Context, batches ...Batch) ([]Receipt, error)

	// Session returns the session with this ID, binned or not.
	// The error wraps [ErrNotFound] if there is none.
	Session(ctx context.Context, id SessionID) (Session, error)

	// Sessions yields the sessions that f lets through, latest Updated first,
	// those of equal times by ID.
	Sessions(ctx context.Context, f Filter) iter.Seq2[Session, error]

	// Events yields the events of session id after the given place, in order;
	// of a fork, the parent's too.
	// It yields an error wrapping [ErrNotFound] if there is no such session.
	Events(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// Newest returns the newest n messages of session id, in order, pieces
	// put together as [Entries] does, in time that does not depend on the
	// session's length. before, if not 0, leaves out those at or after it,
	// so that one can page backwards. n below 1 gives none.
	// The error wraps [ErrNotFound].
	Newest(ctx context.Context, id SessionID, n int, before Seq) ([]Entry, error)

	// Window returns events of session id, in order, that are enough to work
	// out what a model is shown: [window.Context] with Rules.Newest from 1 to n makes
	// of them what it makes of all, but for repairs of what is not shown. It
	// takes time by n and by how often the session was compacted, rewound and
	// amended, not by its length. n below 1 stands for all. The error wraps
	// [ErrNotFound].
	Window(ctx context.Context, id SessionID, n int) ([]Event, error)

	// Watch is like Events, but at the end it waits for more, of this and of
	// other processes. It ends, without an error, when ctx does, and with
	// one wrapping [ErrNotFound] when the session is deleted.
	Watch(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// Search returns what matches q, best first. Sessions in the bin are left
	// out. An empty query matches nothing. What is found is events, each once,
	// in the session that has it, or, if it does not stand there any more, in
	// the first fork in which it does; with Query.Session, in what that session
	// shows. Of an event that was amended, what stands there now is found. What
	// was taken back everywhere is found only with Query.Rewound.
	// [search.NewMatcher] says what matches; an index may find more by the stem.
	// Where there is more to look at than Query.Deadline allows, the newest is
	// looked at, and Results.CutOff says so. The deadline is work, not time: a
	// search finds the same on a busy machine.
	// The error wraps [ErrInvalid] if a regular expression is none, or too long.
	Search(ctx context.Context, q Query) (Results, error)

	// Usage returns the sums of what was used, by q.By, the largest cost
	// of tokens first; by day, the latest first. Sessions in the bin count.
	Usage(ctx context.Context, q UsageQuery) ([]UsageRow, error)

	// Blob returns the bytes of a blob that an event of session id refers to.
	// The error wraps [ErrNotFound] if none does, [ErrCorrupt] if the bytes
	// have another hash.
	Blob(ctx context.Context, id SessionID, h Hash) ([]byte, error)

	// As returns the same store, limited to what u owns: others' sessions are
	// not found, and new ones are u's. It shares everything with the store it
	// came from; closing it does nothing.
	As(u User) Store

	// Close waits for the calls under way, ends watches and gives the disk
	// back. Closing twice is fine. Errors are the disk's.
	Close() error
}

// A Batch is what one writer appends to one session.
type Batch struct {
	Session SessionID // "" only where there are no events and Import.File.Session is "" too: records of a file that has no session (yet)
	After   Seq       // last seq that the writer saw; 0: wherever the session ends; Fresh: it must not have begun
	Fence   Fence     // of the writer's lease; 0 if it has none
	Events  []Event   // may be empty, if there is an Import
	Blobs   []Blob    // that the events refer to and the store may not have
	Import  *Import   // nil if the events do not come from a file
	Again   bool      // it may bring a deleted session back
}

// A Receipt answers a batch.
type Receipt struct {
	Session SessionID
	Last    Seq   // place of the session's last event now
	Seqs    []Seq // places of the batch's events, new or stored before
	New     int   // how many of them are new

	// Messages counts the messages that these began, as [Session.Messages] does: a
	// further piece of a message is none. What was taken back later is counted.
	Messages int
}

// A Filter picks sessions. Its zero value picks all that are not in the bin.
type Filter struct {
	User          User // "" for every user
	Key           string
	Project       string // exact
	Agent         string
	Profile       string
	Model         string // exact
	Origin        string // format of the origin
	Born          bool   // only those that were not imported
	Surface       string
	Tag           string
	Pinned        bool      // only pinned ones
	Parent        SessionID // only its forks, children and continuations, which are the same user's
	NoChildren    bool      // leave out sessions whose parent's Why is Child
	Bin           bool      // those in the bin instead
	Since, Until  Time      // Updated at or after, before; 0 for no bound
	Before        *Session  // only those that come after this one in the order, to page
	IDPrefix      string    // IDs that begin so
	IDSuffix      string    // IDs that end so
	Title         string    // titles, or first words where there is no title, that contain this, ignoring case
	Limit         int       // at most this many; 0 for no limit
	LargerThan    int64     // only those that take more bytes than this on disk; 0 for all
	IncludeEmpty  bool      // also those that show no event but created
	WithOpenCalls bool      // only those with Open calls
}

// ChildRule says how the children of a deleted session fare.
type ChildRule string

// What happens to the children (not the forks) of a deleted session.
const (
	KeepChildren   ChildRule = "keep" // the default
	BinChildren    ChildRule = "bin"
	RefuseChildren ChildRule = "refuse"
)

// A Deletion says how to delete. Its zero value keeps children.
type Deletion struct {
	Children ChildRule
	After    Seq // the session's last seq must be this; 0: whatever it is
}

// Fits checks that the session s ends where d says. The error is a
// *[ConflictError].
func (d *Deletion) Fits(s *Session) error {
	if d.After != 0 && d.After != s.Last {
		return &ConflictError{Session: s.ID, Last: s.Last}
	}
	return nil
}

// Deleted says what a deletion did.
type Deleted struct {
	Events   int         // that were destroyed
	Moved    []SessionID // forks that took over events which they still show
	Binned   []SessionID // children that went to the bin, by ID; without those that were there
	Children []SessionID // children that were kept, by ID
	Bytes    int64       // roughly what was freed
}

// Scrubbed says what a scrub did.
type Scrubbed struct {
	Events, Records, Blobs int         // that were changed
	Forks                  []SessionID // other sessions that show a changed event too, by ID
	Beyond                 []string    // files that it cannot reach, such as backups
	Moved                  []string    // backups that are not where they were written: removed, moved, or on a disk that is not here
	Pending                string      // for people: where old bytes of it still are, and until when; "" if nowhere

	// What is damaged, so that it could not be looked at, and may still have the
	// secrets. Of an event whose payload can be read they are out of that.
	Unread        []Seq
	UnreadRecords int
	UnreadBlobs   []Hash
}

// Add appends evs to session id, wherever it ends, and returns the place of
// its last event. A session that has not begun begins with a created event
// without anything in it. Errors as [Store.Append].
func Add(ctx context.Context, s Store, id SessionID, evs ...Event) (Seq, error) {
	b := Batch{Session: id, Events: evs}
	r, err := s.Append(ctx, b)
	if errors.Is(err, ErrNotFound) && len(evs) > 0 && evs[0].Kind != KindCreated {
		begins := Batch{Session: id, After: Fresh, Events: append([]Event{NewEvent(KindCreated, evs[0].Time, Created{})}, evs...)}
		switch began, berr := s.Append(ctx, begins); {
		case errors.Is(berr, ErrConflict): // another program began it meanwhile
			r, err = s.Append(ctx, b)
		case !errors.Is(berr, ErrExists): // else it is another user's: not found
			r, err = began, berr
		}
	}
	if err != nil {
		return 0, err
	}
	return r[0].Last, nil
}

// Free reports whether a session may begin with this ID: IDs are one space for
// all users of a store, so it may be that of a session which is not found, for it
// is another user's. An ID that only a tombstone bars is free. Nothing is stored.
// Errors as [Store.Append].
func Free(ctx context.Context, s Store, id SessionID) (bool, error) {
	// No session begins after an event, and whose it is is looked at first.
	_, err := s.Append(ctx, Batch{Session: id, After: 1, Again: true, Events: []Event{NewEvent(KindCreated, 0, Created{})}})
	var moved *ConflictError
	switch {
	case errors.As(err, &moved):
		return moved.Last == 0, nil
	case errors.Is(err, ErrExists):
		return false, nil
	}
	return false, err
}

// Here returns the ID by which s has a session that has this ID elsewhere, or may
// begin it: the ID itself, or, where another user has it, the first of
// [SessionID.Other] that nobody else has. Errors as [Store.Append].
func Here(ctx context.Context, s Store, id SessionID) (SessionID, error) {
	here := id
	for n := 0; ; n++ {
		_, err := s.Session(ctx, here)
		there := err == nil
		if errors.Is(err, ErrNotFound) {
			there, err = Free(ctx, s, here)
		}
		if there || err != nil {
			return here, err
		}
		here = id.Other(n)
	}
}
