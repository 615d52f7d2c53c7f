package skein

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// Leases is the part of a [Store] that says who may write to a session.
type Leases interface {
	// Acquire takes the lease of session id, which need not have begun.
	// Every lease has a greater Fence than those before. A lease with a TTL
	// is held until the TTL is over; one without, until it is released, the
	// process ends or the Store that it was taken from is closed.
	// The error wraps [ErrLocked] (as a *[LockedError]) if the lease is held,
	// even by the same process.
	Acquire(ctx context.Context, id SessionID, r LeaseRequest) (Lease, error)

	// Renew makes a lease with a TTL end ttl from now, by the store's clock.
	// The error wraps [ErrFenced] if the lease is no longer held.
	Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error)

	// Release ends the lease. Releasing one that is no longer held is not an
	// error.
	Release(ctx context.Context, l Lease) error
}

// Lifecycle is the part of a [Store] that bins, restores and destroys sessions.
type Lifecycle interface {
	// Bin puts a session in the bin and frees its key. Nothing is lost.
	// Binning twice is not an error. The error wraps [ErrNotFound].
	Bin(ctx context.Context, id SessionID) error

	// Restore takes a session out of the bin. If its key was taken meanwhile,
	// it appends a changed event that removes the key. Restoring a session
	// that is not in the bin is not an error. The error wraps [ErrNotFound].
	Restore(ctx context.Context, id SessionID) error

	// Delete destroys a session and everything that belongs to it, including
	// the records of its source files and of files that are copies of it.
	// Events that forks still show move, with their usage, to the fork that
	// shows the most of them (the one made first, if several do); the other
	// forks read them there. A tombstone keeps late writes and imports from
	// bringing the session back.
	// The error wraps [ErrNotFound], [ErrLocked] if its lease is held,
	// [ErrConflict] if it does not end where d says, or [ErrRefused] if it has
	// children and d forbids that.
	Delete(ctx context.Context, id SessionID, d Deletion) (Deleted, error)

	// Scrub replaces every occurrence of secrets in the events that the
	// session shows, its source records, index and blobs by a mark of the
	// same length (see [erase.Mask]), increments the revision, also of other
	// sessions that show a changed event, and appends a noted event named
	// scrubbed without the secrets. It is the only exception to "events are
	// never changed". It skips damaged data and reports it (see [Scrubbed]).
	// The error wraps [ErrNotFound] or [ErrInvalid] (a secret shorter than
	// four bytes).
	Scrub(ctx context.Context, id SessionID, secrets []string) (Scrubbed, error)

	// Size returns about how many bytes session id's own events, records and
	// blobs take on disk. The error wraps [ErrNotFound].
	Size(ctx context.Context, id SessionID) (int64, error)
}

// Sources is the part of a [Store] that knows which files its sessions were
// imported from.
type Sources interface {
	// Find returns the places of imported events by their client IDs, in the
	// bin or not, for those that exist; if several events have the same client
	// ID, the one stored first. An event that moved to a fork is found there.
	Find(ctx context.Context, keys []ClientID) (map[ClientID]Place, error)

	// File returns what is known about a source file. If several users have
	// read the same one, and the store is not a view, the first user by name
	// counts. The error wraps [ErrNotFound] if it was never read.
	File(ctx context.Context, format, path string) (SourceFile, error)

	// Files yields the source files of a format, or of all formats if it is
	// "", by path.
	Files(ctx context.Context, format string) iter.Seq2[SourceFile, error]

	// Records yields the records of a source file from number n on, in order.
	// It yields an error wrapping [ErrNotFound] if it was never read, and a
	// [DamagedRecordsError] if some cannot be read: to read the records after
	// them, call it again with their number (see [lenient.Records]).
	Records(ctx context.Context, format, path string, n int) iter.Seq2[Record, error]

	// FilesNamed yields, by path, the source files whose ID in their own
	// program begins or ends with part and differs from that of their session.
	FilesNamed(ctx context.Context, part string) iter.Seq2[SourceFile, error]
}

// Feed is the part of a [Store] that reports events as they are stored.
type Feed interface {
	// Feed yields the events of all sessions that were stored after a cursor,
	// in the order in which they were stored, each once, and then waits for
	// more, from this and other processes. It ends, without an error, when
	// ctx does. The events that a fork shows of its parent are yielded only as
	// the parent's; what was deleted since is left out. The error wraps
	// [ErrInvalid] if this store did not return the cursor, even if ctx is
	// already done.
	Feed(ctx context.Context, after Cursor) iter.Seq2[Fed, error]
}

// SessionCounter is the part of a [Store] that counts sessions.
type SessionCounter interface {
	// CountBy counts the sessions that f selects, without regard to f.Before and
	// f.Limit, by each value that each dimension has in them: the most sessions
	// first, equal numbers by value. A session with several tags is counted for
	// each, one without tags not at all. Several dimensions at once cost little
	// more than one.
	// The error wraps [ErrInvalid] if sessions are not counted by one of them.
	CountBy(ctx context.Context, f Filter, by ...Dimension) (map[Dimension][]Counted, error)
}

// A Counted is how many sessions have a value.
type Counted struct {
	Of       string // an agent, a model, a tag, …; "" if it is unknown
	Sessions int
}

// A FullStore is a Store with all the parts. The stores of this module are.
type FullStore interface {
	Store
	Leases
	Lifecycle
	Sources
	Feed
}

// A Sweeper is a Store that keeps bytes of what was deleted or scrubbed for a
// while.
type Sweeper interface {
	// Swept waits until those bytes are gone from its files. It waits as long
	// as a reader uses an earlier state. The error is ctx's, or the disk's.
	Swept(ctx context.Context) error
	// Left says, for people, where those bytes are and until when; "" if there
	// are none. The error is ctx's, or the disk's.
	Left(ctx context.Context) (string, error)
}

// PartOf returns s as a P, an interface: s itself, or else the first of the stores
// that it wraps (Unwrap() Store) that implements P. It is the one way to ask what
// else a store can do.
func PartOf[P any](s Store) (part P, ok bool) {
	for s != nil {
		if part, ok = s.(P); ok {
			return part, true
		}
		w, wraps := s.(interface{ Unwrap() Store })
		if !wraps {
			break
		}
		s = w.Unwrap()
	}
	return part, false
}

// LeasesOf returns the leases of s. If s does not have leases, the methods of the
// result fail with an error that wraps [ErrRefused].
func LeasesOf(s Store) Leases { return partOr[Leases](s, lacks{}) }

// LifecycleOf returns s as a Lifecycle. If s does not implement it, the methods of
// the result fail with an error that wraps [ErrRefused].
func LifecycleOf(s Store) Lifecycle { return partOr[Lifecycle](s, lacks{}) }

// SourcesOf returns the source files of s. If s does not keep source files, the
// methods of the result fail with an error that wraps [ErrRefused].
func SourcesOf(s Store) Sources { return partOr[Sources](s, lacks{}) }

// FeedOf returns the feed of s. If s does not have a feed, the result yields an
// error that wraps [ErrRefused].
func FeedOf(s Store) Feed { return partOr[Feed](s, lacks{}) }

// CounterOf returns s as a SessionCounter. If s does not count by itself, the sessions are
// listed and counted.
func CounterOf(s Store) SessionCounter { return partOr[SessionCounter](s, listCounter{s}) }

func partOr[P any](s Store, otherwise P) P {
	if part, ok := PartOf[P](s); ok {
		return part
	}
	return otherwise
}

// lacks takes the place of a part that a store does not implement.
type lacks struct{}

func lacking(what string) error { return fmt.Errorf("%w: this store has no %s", ErrRefused, what) }

func none[T any](what string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		yield(zero, lacking(what))
	}
}

func (lacks) Acquire(context.Context, SessionID, LeaseRequest) (Lease, error) {
	return Lease{}, lacking("leases")
}

func (lacks) Renew(context.Context, Lease, time.Duration) (Lease, error) {
	return Lease{}, lacking("leases")
}

func (lacks) Release(context.Context, Lease) error     { return lacking("leases") }
func (lacks) Bin(context.Context, SessionID) error     { return lacking("bin") }
func (lacks) Restore(context.Context, SessionID) error { return lacking("bin") }

func (lacks) Delete(context.Context, SessionID, Deletion) (Deleted, error) {
	return Deleted{}, lacking("way to delete")
}

func (lacks) Scrub(context.Context, SessionID, []string) (Scrubbed, error) {
	return Scrubbed{}, lacking("way to scrub")
}

func (lacks) Size(context.Context, SessionID) (int64, error) { return 0, lacking("sizes") }

func (lacks) Find(context.Context, []ClientID) (map[ClientID]Place, error) {
	return nil, lacking("source files")
}

func (lacks) File(context.Context, string, string) (SourceFile, error) {
	return SourceFile{}, lacking("source files")
}

func (lacks) Files(context.Context, string) iter.Seq2[SourceFile, error] {
	return none[SourceFile]("source files")
}

func (lacks) FilesNamed(context.Context, string) iter.Seq2[SourceFile, error] {
	return none[SourceFile]("source files")
}

func (lacks) Records(context.Context, string, string, int) iter.Seq2[Record, error] {
	return none[Record]("source files")
}

func (lacks) Feed(context.Context, Cursor) iter.Seq2[Fed, error] { return none[Fed]("feed") }

// listCounter counts the sessions that a store lists.
type listCounter struct{ Store }

// CountBy implements [SessionCounter].
func (l listCounter) CountBy(ctx context.Context, f Filter, by ...Dimension) (map[Dimension][]Counted, error) {
	return CountListed(ctx, l.Store, f, by...)
}

// CountListed is [SessionCounter].CountBy for what s lists: a store uses it where only the list
// says exactly what f selects. The error is that of the method, or of [Store.Sessions].
func CountListed(ctx context.Context, s Store, f Filter, by ...Dimension) (map[Dimension][]Counted, error) {
	t, err := NewSessionCounts(by...)
	if err != nil {
		return nil, err
	}
	f.Before, f.Limit = nil, 0
	for one, err := range s.Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		for _, d := range by {
			for _, of := range d.Values(&one) {
				t[d][of]++
			}
		}
	}
	return t.Sorted(), nil
}

// SessionCounts are how many sessions have each value of some dimensions.
type SessionCounts map[Dimension]map[string]int

// NewSessionCounts returns the counts of no sessions. The error wraps [ErrInvalid] if sessions are not
// counted by one of the dimensions.
func NewSessionCounts(by ...Dimension) (SessionCounts, error) {
	t := make(SessionCounts, len(by))
	for _, d := range by {
		if err := d.Counts(); err != nil {
			return nil, err
		}
		t[d] = map[string]int{}
	}
	return t, nil
}

// Sorted returns the counts in the order of [SessionCounter].
func (t SessionCounts) Sorted() map[Dimension][]Counted {
	out := make(map[Dimension][]Counted, len(t))
	for d, counts := range t {
		all := make([]Counted, 0, len(counts))
		for of, n := range counts {
			all = append(all, Counted{of, n})
		}
		SortCounted(all)
		out[d] = all
	}
	return out
}

// SortCounted brings all into the order of [SessionCounter].
func SortCounted(all []Counted) {
	slices.SortFunc(all, func(a, b Counted) int { return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Of, b.Of)) })
}

// A Cursor is a position in a store's feed. It is opaque: only the store that
// returned it can read it. "" is the beginning.
type Cursor string

// FeedNow is the end of what is stored now. The first [Fed] that [Feed.Feed] then
// yields has no event, only the cursor of that position.
const FeedNow Cursor = "now"

// A Fed is an event among those of all sessions.
type Fed struct {
	Cursor  Cursor // the position after it
	Session SessionID
	User    User
	Event   Event
	Damaged bool // Event is the placeholder of one that cannot be read as it was written
}

// A Fence is a fencing number: it grows with every lease of a session, and a
// store refuses the writes of a lease that is not the newest. 0 means no lease.
type Fence int64

// A Lease is the right to write to a session. While it is held, said, tool,
// step, compacted and rewound events need its Fence; others do not. A Fence that
// is given is always checked: it must be the newest lease's, held or not.
type Lease struct {
	Session SessionID
	Fence   Fence
	Holder  Holder
	Expires Time // 0 if it is held by a process and does not expire
}

// A Holder identifies who holds a lease.
type Holder struct {
	Program string `json:"program,omitempty"` // such as "skein chat"
	PID     int    `json:"pid,omitempty"`     // 0 if it is not a process of this host
	Host    string `json:"host,omitempty"`
	Since   Time   `json:"since,omitzero"`
}

// String describes h for people: PID 4711 (skein chat, since 10:31). The time is
// in the local zone.
func (h Holder) String() string {
	who := h.Host
	if h.PID != 0 {
		who = fmt.Sprintf("PID %d", h.PID)
	}
	return fmt.Sprintf("%s (%s, since %s)", who, h.Program, h.Since.Std().In(time.Local).Format("15:04"))
}

// A LeaseRequest asks for a lease.
type LeaseRequest struct {
	Program   string        // the program that asks, for people
	TakeOver  bool          // end the lease if it is held
	TTL       time.Duration // 0: held by this process for as long as it lives; else it must be renewed within this time
	Elsewhere Holder        // with a TTL: the PID and Host of a process that asks from elsewhere, for people
}

// A SourceFile is what a store knows about a file that sessions were imported
// from: how far it was read, and how to detect that it has changed since.
type SourceFile struct {
	Format  string    // name of the interop format
	Path    string    // absolute; Format and Path name the file
	Session SessionID // the main session in it; "" if it has none of its own
	ID      string    // the session's ID in its own program; "" if not known
	CopyOf  SessionID // if all that was read is a copy: the session that has these events
	Size    int64     // bytes, when it was last read
	Mtime   int64     // nanoseconds since 1970, when it was last read
	Inode   uint64    // 0 if there is none
	Offset  int64     // bytes of it that are stored as records
	Records int       // how many records these are
	Damaged int       // how many of them are damaged
	Head    Hash      // of its first bytes, up to 4096
	State   []byte    // the state that the format's reader saves; at most 1 MB
}

// IsNamed reports whether the ID in the file's own program begins or ends with part
// and is not the ID of the file's session.
func (f *SourceFile) IsNamed(part string) bool {
	return f.ID != string(f.Session) && (strings.HasPrefix(f.ID, part) || strings.HasSuffix(f.ID, part))
}

// A Record is one source record: a line of a file, byte for byte. Joined in
// order, the records of a file are the file.
type Record struct {
	N      int      // 0 for the first of its file
	Offset int64    // of its first byte in the file
	Raw    []byte   // all its bytes, with the separator after it
	Key    ClientID // its events have the client IDs Key (if there is one) or Key/0, Key/1, …; "" if it has none
	Events int      // how many events it made
	Copy   bool     // these events are in another session: the record repeats another file's
	Damage string   // what is wrong with it, for people; "" if nothing is
}

// Import is what a batch says about the file that its events come from. It is
// stored in the transaction of the events, so that events, records and how far
// the file was read never disagree. A file belongs to the user of the batch's
// session; two users may have read the same file.
type Import struct {
	File    SourceFile // as it is after Records
	Records []Record   // N without gaps, following those stored before; one stored before (the same N) is replaced
	Forget  bool       // the records stored from Records[0].N on (all if there are no Records) are dropped first: the file was rewritten
}

// A Place is the position of an event.
type Place struct {
	Session SessionID
	Seq     Seq
}
