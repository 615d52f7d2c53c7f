package skein

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
)

// A Store keeps events. Every implementation passes package storetest, whose test
// names state the guarantees of its methods.
//
// All methods are safe for use by many goroutines. A method that returns an
// iterator does its work while the caller ranges, holds no lock between two
// values, stops when the caller stops, and yields at most one error, last.
//
// If a method's error wraps [ErrNotFound] and the store is one user's view, the
// sessions of other users are not found either.
//
// After Close every method returns, or yields, an error wrapping [ErrClosed].
//
// A Store does more than this: leases, deleting, source files, a feed. These are
// separate interfaces, [Leases], [Lifecycle], [Sources] and [Feed], which
// [LeasesOf] and similar functions return. A Store that wraps another one embeds it
// and has a method Unwrap() Store; to change a method of such an interface, it
// embeds that interface too.
type Store interface {
	// Append stores the events of all batches, all or none, and returns a
	// receipt for each. It does not change the batches and may keep what they
	// point to; the caller must not change that later.
	//
	// A nil error means that the events are on disk and every later read
	// returns them. An error other than [ErrUnknown] means that none of them
	// was stored or ever will be. ctx may stop the work before the commit,
	// never the commit.
	//
	// An event whose ClientID the session already has is not stored again: it
	// is looked up before After and Fence are checked, and compared by kind
	// and payload, not by time. The session's events include those that it
	// shows of its parent; if several have the ID (each session may have a
	// created event with the same one), the newest counts. A scrubbed event
	// matches any content. After and Fence are checked only if the batch has
	// anything that is not stored yet, then for the whole batch.
	//
	// A fork's parent must exist, belong to the same user, and have begun and
	// reached that seq. Children and continuations may come before their
	// parents. Every blob that an event refers to must be in the batch, in
	// an earlier batch of the call, or referred to by an event of the same
	// user. An amended event's payload must fit the event that it amends.
	//
	// The error wraps [ErrConflict] (as a *[ConflictError]) if a session does
	// not end at Batch.After, [ErrFenced] if Batch.Fence is stale,
	// [ErrLocked] (as a *[LockedError]) if the lease is held, the batch has
	// no Fence and an event needs one, [ErrMismatch], [ErrDeleted] if the
	// session's ID, a fork's parent or the origin of an Import has a
	// tombstone of the same user (for the ID and the origin, Batch.Again
	// removes it; if a store that is not a view appends to a session without
	// beginning it, a tombstone of any user counts),
	// [ErrExists] if a live session has the key, or another user the ID,
	// [ErrInvalid], [ErrFull], [ErrReadOnly], [ErrReplaced], or one of
	// [Session.Apply].
	Append(ctx context.Context, batches ...Batch) ([]Receipt, error)

	// Session returns the session with this ID, binned or not.
	// The error wraps [ErrNotFound] if it does not exist.
	Session(ctx context.Context, id SessionID) (Session, error)

	// Sessions yields the sessions that f selects, latest Updated first,
	// those of equal times by ID.
	Sessions(ctx context.Context, f Filter) iter.Seq2[Session, error]

	// Events yields the events of session id after the given seq, in order;
	// for a fork, the parent's too.
	// It yields an error wrapping [ErrNotFound] if there is no such session.
	Events(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// Newest returns the newest n messages of session id, in order, their
	// pieces put together as [Entries] does, in time that does not depend on
	// the session's length. If before is not 0, messages at or after it are
	// left out, to page backward. If n is below 1, there are no messages.
	// The error wraps [ErrNotFound].
	Newest(ctx context.Context, id SessionID, n int, before Seq) ([]Entry, error)

	// Window returns events of session id, in order, that are enough to compute
	// what a model is shown: [window.Context] with Rules.Newest from 1 to n gives
	// the same result for them as for all events, except for repairs of what is
	// not shown. Its time depends on n and on how often the session was
	// compacted, rewound and amended, not on its length. If n is below 1, it
	// returns all events. The error wraps [ErrNotFound].
	Window(ctx context.Context, id SessionID, n int) ([]Event, error)

	// Watch is like Events, but at the end it waits for more, from this and
	// other processes. It ends without an error when ctx does, and with an
	// error wrapping [ErrNotFound] when the session is deleted.
	Watch(ctx context.Context, id SessionID, after Seq) iter.Seq2[Event, error]

	// Search returns what matches q, best first. Sessions in the bin are left
	// out. An empty query matches nothing. It finds each event once: in the
	// session that has it, or, if it is no longer live there, in the first fork
	// where it is; with Query.Session, in what that session shows. Of an event
	// that was amended, only the new payload is found. What was taken back
	// everywhere is found only with Query.Rewound.
	// [search.NewMatcher] defines what matches; an index may find more by the
	// stem. If there is more to search than Query.Deadline allows, the newest
	// events are searched, and Results.CutOff is set. The deadline is counted
	// in work, not time: a search finds the same on a busy machine.
	// The error wraps [ErrInvalid] if a regular expression is invalid or too
	// long.
	Search(ctx context.Context, q Query) (Results, error)

	// Usage returns the sums of usage by q.By, the most tokens first; by day,
	// the latest first. Sessions in the bin count.
	Usage(ctx context.Context, q UsageQuery) ([]UsageRow, error)

	// Blob returns the bytes of a blob that an event of session id refers to.
	// The error wraps [ErrNotFound] if no event does, [ErrCorrupt] if the
	// bytes have another hash.
	Blob(ctx context.Context, id SessionID, h Hash) ([]byte, error)

	// As returns a view of the store, limited to what u owns: the sessions of
	// others are not found, and new ones are u's. It shares everything with the
	// store that it came from; closing it does nothing.
	As(u User) Store

	// Close waits for the running calls, ends watches and releases the files.
	// Closing twice is not an error. Errors are the disk's.
	Close() error
}

// A Batch is what one writer appends to one session.
type Batch struct {
	Session SessionID // "" only if there are no events and Import.File.Session is "" too: records of a file that has no session (yet)
	After   Seq       // last seq that the writer saw; 0: wherever the session ends; Fresh: it must not have begun
	Fence   Fence     // of the writer's lease; 0 if it has none
	Events  []Event   // may be empty, if there is an Import
	Blobs   []Blob    // blobs that the events refer to and the store may not have
	Import  *Import   // nil if the events do not come from a file
	Again   bool      // it may bring a deleted session back
}

// A Receipt answers a batch.
type Receipt struct {
	Session SessionID
	Last    Seq   // seq of the session's last event now
	Seqs    []Seq // seqs of the batch's events, new or stored before
	New     int   // how many of them are new

	// Messages counts the messages that the new events began, as [Session.Messages]
	// does, without further pieces, but including what was taken back later.
	Messages int
}

// A Filter selects sessions. Its zero value selects all that are not in the bin.
type Filter struct {
	User          User // "" for every user
	Key           string
	Project       string // exact; with Repository, sessions that have either
	Repository    string // exact
	Agent         string
	Profile       string
	Model         string // exact
	Origin        string // format of the origin
	Born          bool   // only those that were not imported
	Surface       string
	Tag           string
	Pinned        bool        // only pinned ones
	Parent        SessionID   // only its forks, children and continuations, which are the same user's
	NoChildren    bool        // leave out sessions whose parent's Why is Child
	Bin           bool        // those in the bin instead
	Since, Until  Time        // Updated at or after Since, and before Until; 0 for no bound
	Before        *Session    // only those that come after this one in the order, to page
	IDs           []SessionID // only these; empty for all
	IDPrefix      string      // IDs that begin with this
	IDSuffix      string      // IDs that end with this
	Title         string      // titles, or first words if there is no title, that contain this, ignoring case
	Limit         int         // at most this many; 0 for no limit
	LargerThan    int64       // only those that take more bytes than this on disk; 0 for all
	IncludeEmpty  bool        // also those that show only a created event
	WithOpenCalls bool        // only those with Open calls

	// Among has the values that are wanted of some dimensions: only sessions with one
	// of them, for each dimension with any. See [Dimension.Values].
	Among map[Dimension][]string
}

// ChildRule says what happens to the children of a deleted session.
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
	After    Seq // the session's last seq must be this; 0: any
}

// Fits checks that the session s ends at d.After. The error is a
// *[ConflictError].
func (d *Deletion) Fits(s *Session) error {
	if d.After != 0 && d.After != s.Last {
		return &ConflictError{Session: s.ID, Last: s.Last}
	}
	return nil
}

// Deleted says what a deletion did.
type Deleted struct {
	Events   int         // how many were destroyed
	Moved    []SessionID // forks that took over events that they still show
	Binned   []SessionID // children that went to the bin, by ID; without those already there
	Children []SessionID // children that were kept, by ID
	Bytes    int64       // about how many were freed
}

// Scrubbed says what a scrub did.
type Scrubbed struct {
	Events, Records, Blobs int         // how many were changed
	Forks                  []SessionID // other sessions that show a changed event too, by ID
	Beyond                 []string    // files that the scrub cannot reach, such as backups
	Moved                  []string    // backups that are not where they were written: removed, moved, or on a disk that is not mounted
	Pending                string      // for people: where old bytes still are, and until when; "" if nowhere

	// What is damaged, so that it could not be checked, and may still have the
	// secrets. If an event's payload can be read, they were removed from it.
	Unread        []Seq
	UnreadRecords int
	UnreadBlobs   []Hash
}

// Add appends evs to session id, wherever it ends, and returns the seq of its last
// event. If the session has not begun, an empty created event begins it.
// Errors as [Store.Append].
func Add(ctx context.Context, s Store, id SessionID, evs ...Event) (Seq, error) {
	b := Batch{Session: id, Events: evs}
	r, err := s.Append(ctx, b)
	if errors.Is(err, ErrNotFound) && len(evs) > 0 && evs[0].Kind != KindCreated {
		begins := Batch{Session: id, After: Fresh, Events: append([]Event{NewEvent(KindCreated, evs[0].Time, Created{})}, evs...)}
		switch began, berr := s.Append(ctx, begins); {
		case errors.Is(berr, ErrConflict): // another program began it meanwhile
			r, err = s.Append(ctx, b)
		case !errors.Is(berr, ErrExists): // else the ID is another user's: not found
			r, err = began, berr
		}
	}
	if err != nil {
		return 0, err
	}
	return r[0].Last, nil
}

// Free reports whether a session may begin with this ID. All users of a store share
// one space of IDs, so the ID may be taken by another user's session, which is not
// found. An ID that only a tombstone blocks is free. Nothing is stored.
// Errors as [Store.Append].
func Free(ctx context.Context, s Store, id SessionID) (bool, error) {
	// No session begins after an event, and the store checks the ID's owner first.
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

// Here returns the ID under which s has, or may begin, a session that has this ID
// elsewhere: the ID itself, or, if another user has it, the first of
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

// MaxWhole is about the most bytes that the events of a search's hits take; see
// [Query].Whole.
const MaxWhole = 8 << 20

// A Query asks for messages. [search.Parse] makes one from what a person typed;
// [search.NewMatcher] defines what it matches. A query with conditions but no words
// matches everything that meets them; an empty query matches nothing.
type Query struct {
	Terms      []Term    // all must match
	Substring  string    // exact text, case ignored, instead of Terms
	Regex      string    // RE2 expression, instead of Terms
	User       User      // "" for every user
	Session    SessionID // only in this one, including what it shows of its parent
	Role       Role
	Agent      string
	Project    string // path or repository, or the end of it after a slash; see [search.InProject]
	Repository string // with Project: sessions of either
	Origin     string
	Tool       string // only calls and results of this tool, A to Z in any case
	Path       string // only messages whose tools or files name a path that contains this
	Failed     bool   // only errors
	Since      Time   // 0 for no bound
	Until      Time
	Rewound    bool          // also what was taken back; Hit.Rewound marks it
	Each       bool          // every message, not the best of each session
	Newest     bool          // with Each: the newest matches, not the best; no text changes their order, and Hit.Score is 0
	Whole      bool          // Hit.Event too; with Each, the hits end where these take MaxWhole bytes, and CutOff is set
	Limit      int           // at most this many hits; 0 is 20
	Deadline   time.Duration // how much to search: as much as takes this long on an idle machine; 0 is 150 ms. See [search.Budget], [search.Widen]
}

// MostHits returns how many hits the query asks for: Limit, or 20.
func (q *Query) MostHits() int {
	if q.Limit > 0 {
		return q.Limit
	}
	return 20
}

// A Term is one thing to look for. Words are compared ignoring case, and an
// index may compare them by their stem. [search.Phrases] says what to look for.
type Term struct {
	Words  []string // one word, or a phrase
	Any    bool     // any of the words, not the phrase
	Prefix bool     // the last word is the beginning of one
	Not    bool     // must not occur
}

// Results answer a [Query].
type Results struct {
	Hits   []Hit
	CutOff bool // only the newest were searched: there may be better hits
}

// A Hit is a message that matches.
type Hit struct {
	Session SessionID
	Seq     Seq
	Turn    int // 0 before the first
	Role    Role
	Time    Time
	Score   float64 // higher is better; comparable only within one search
	Snippet string  // some words around the match, the matching ones between Mark and EndMark
	Count   int     // matching events of the session among those searched, as Query.Each gives them: messages, titles, summaries; 0 if not counted
	Rewound bool    // it was taken back
	Event   *Event  // the event, as it was amended; nil unless Query.Whole asks for it, or if it is damaged
}

// Mark and EndMark enclose what matched in [Hit.Snippet]. If the text has these
// characters itself, they are removed from the snippet.
const (
	Mark    = "\x02"
	EndMark = "\x03"
)

// A Fragment is a piece of a snippet: what matched, or text around it.
type Fragment struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty"`
}

// Fragments splits [Hit.Snippet] at its marks: the texts, joined, are the snippet
// without them.
func (h *Hit) Fragments() (all []Fragment) {
	rest := h.Snippet
	for match := false; rest != ""; match = !match {
		end := Mark
		if match {
			end = EndMark
		}
		var text string
		if text, rest, _ = strings.Cut(rest, end); text != "" {
			all = append(all, Fragment{text, match})
		}
	}
	return all
}

// Fits reports whether f selects s, ignoring its fields Before, LargerThan and
// Limit. A store uses it to check candidates that its index finds only roughly.
func (f *Filter) Fits(s *Session) bool {
	var parent Parent
	if s.Parent != nil {
		parent = *s.Parent
	}
	var origin string
	if s.Origin != nil {
		origin = s.Origin.Format
	}
	for _, x := range []struct{ want, is string }{
		{string(f.User), string(s.User)},
		{f.Key, s.Key},
		{f.Agent, s.Agent},
		{f.Profile, s.Profile},
		{f.Model, s.Model},
		{f.Origin, origin},
		{f.Surface, s.Surface},
		{string(f.Parent), string(parent.Session)},
	} {
		if x.want != "" && x.want != x.is {
			return false
		}
	}
	return f.Bin == (s.Binned != 0) && in(f.Project, f.Repository, s.Project, s.Checkout.Repository) &&
		(f.Tag == "" || slices.Contains(s.Tags, f.Tag)) &&
		(!f.Pinned || s.Pinned) &&
		(!f.Born || s.Origin == nil) &&
		(!f.NoChildren || parent.Why != Child) &&
		(f.Since == 0 || s.Updated >= f.Since) &&
		(f.Until == 0 || s.Updated < f.Until) &&
		(len(f.IDs) == 0 || slices.Contains(f.IDs, s.ID)) &&
		strings.HasPrefix(string(s.ID), f.IDPrefix) &&
		strings.HasSuffix(string(s.ID), f.IDSuffix) &&
		(f.IncludeEmpty || s.Last > 1) &&
		(!f.WithOpenCalls || len(s.Open) > 0) &&
		f.fitsAmong(s) &&
		f.fitsTitle(s)
}

func (f *Filter) fitsTitle(s *Session) bool {
	return f.Title == "" || strings.Contains(strings.ToLower(cmp.Or(s.Title, s.First)), strings.ToLower(f.Title))
}

// fitsAmong reports whether s has one of the values that f.Among has for each
// dimension.
func (f *Filter) fitsAmong(s *Session) bool {
	for by, want := range f.Among {
		if len(want) > 0 && !slices.ContainsFunc(by.Values(s), func(is string) bool { return slices.Contains(want, is) }) {
			return false
		}
	}
	return true
}

// Chosen returns the dimensions for which f.Among has values, in order.
func (f *Filter) Chosen() (all []Dimension) {
	for by, want := range f.Among {
		if len(want) > 0 {
			all = append(all, by)
		}
	}
	slices.Sort(all)
	return all
}

// Compare compares s and t by the order of [Store.Sessions]. It is negative if s
// comes before t.
func (s *Session) Compare(t *Session) int {
	return cmp.Or(cmp.Compare(t.Updated, s.Updated), cmp.Compare(s.ID, t.ID))
}

// A Dimension is what usage is summed, or sessions are counted, by.
type Dimension string

// The dimensions.
const (
	ByDay        Dimension = "day"
	ByModelID    Dimension = "model"
	ByAgent      Dimension = "agent"
	ByProject    Dimension = "project"
	ByRepository Dimension = "repository" // its project's path for a session whose repository is unknown
	BySession    Dimension = "session"
	ByBranch     Dimension = "branch"
	BySlot       Dimension = "slot"    // the quarter hour; of a session, the one in which it was updated
	BySurface    Dimension = "surface" // of sessions only, as the following
	ByTag        Dimension = "tag"
	ByState      Dimension = "state" // a [WorkState], by what the events say
)

// Counts checks that sessions can be counted, and chosen, by d.
//
// The error wraps [ErrInvalid].
func (d Dimension) Counts() error {
	switch d {
	case ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySurface, ByTag, ByState, BySlot:
		return nil
	}
	return Invalidf("sessions by %.100q: want %s, %s, %s, %s, %s, %s, %s, %s or %s", d, ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySurface, ByTag, ByState, BySlot)
}

// Values returns what d has in the session s: its tags, and one value of anything
// else that sessions are counted by.
func (d Dimension) Values(s *Session) []string {
	switch d {
	case ByModelID:
		return []string{s.Model}
	case ByAgent:
		return []string{s.Agent}
	case ByProject:
		return []string{s.Project}
	case ByRepository:
		return []string{cmp.Or(s.Checkout.Repository, s.Project)}
	case ByBranch:
		return []string{s.Checkout.Branch}
	case BySurface:
		return []string{s.Surface}
	case ByTag:
		return s.Tags
	case ByState:
		return []string{string(cmp.Or(s.Activity.State, StateIdle))}
	case BySlot:
		return []string{s.Updated.Slot().String()}
	}
	return nil
}

// A UsageQuery asks for sums of usage.
type UsageQuery struct {
	By           Dimension
	Then         Dimension   // each value of By by this too; "" for one sum
	User         User        // "" for every user
	Sessions     []SessionID // only these ones' own; empty for all
	Project      string
	Repository   string // with Project: what belongs to either
	Agent        string
	Since, Until Time           // to the quarter hour; 0 for no bound
	Zone         *time.Location // whose days; nil is UTC
}

// Check checks that usage can be summed by q.By and q.Then; "" is [ByDay] and nothing.
//
// The error wraps [ErrInvalid].
func (q UsageQuery) Check() error {
	for _, by := range []Dimension{q.By, q.Then} {
		switch by {
		case "", ByDay, BySlot, ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySession:
		default:
			return Invalidf("usage by %.100q: want %s, %s, %s, %s, %s, %s, %s or %s", by, ByDay, BySlot, ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySession)
		}
	}
	return nil
}

// In reports whether a session of the project and repository is among those that q
// asks for.
func (q *UsageQuery) In(project, repository string) bool {
	return in(q.Project, q.Repository, project, repository)
}

// in reports whether a session of the project and repository is in either of those
// that are wanted, "" for none. If neither is wanted, every session is.
func in(wantProject, wantRepository, project, repository string) bool {
	return wantProject == "" && wantRepository == "" ||
		wantProject != "" && wantProject == project ||
		wantRepository != "" && wantRepository == repository
}

// A UsageRow is one sum. There is one for each value of the dimension, each
// model and each tier, because prices differ by model and tier.
type UsageRow struct {
	Of       string // 2026-11-21, 2026-11-21T12:15:00.000Z, a model, an agent, a project, a repository, a branch, a SessionID
	Then     string // the same of UsageQuery.Then
	Provider string
	Model    string
	Tier     Tier
	Usage    Usage
	Recorded Usage // the part of Usage of the requests whose cost the source reported
}
