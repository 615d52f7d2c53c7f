package memory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// A Store keeps sessions in memory. Make one with [New].
type Store struct {
	*view
	reads
	searches
	lifecycle
	leases
	sources
	feeds
	isView bool // closing it does nothing
}

// A view is what one user sees of a store: the base of each part of a [Store].
type view struct {
	*data
	user skein.User // "" for everybody's
}

// The parts of a Store, by the subject of their methods.
type (
	reads     struct{ *view } // sessions and events
	searches  struct{ *view } // what was said anywhere
	lifecycle struct{ *view } // [skein.Lifecycle], and the tombstones
	leases    struct{ *view } // [skein.Leases]
	sources   struct{ *view } // [skein.Sources]
	feeds     struct{ *view } // [skein.Feed]
)

func newStore(d *data, u skein.User, isView bool) *Store {
	v := &view{d, u}
	return &Store{v, reads{v}, searches{v}, lifecycle{v}, leases{v}, sources{v}, feeds{v}, isView}
}

// data is what a store and its views share.
type data struct {
	mu          sync.Mutex
	closed      bool
	changed     chan struct{} // closed and replaced at each change
	order       int           // counts what was stored
	fence       skein.Fence   // of the newest lease of any session
	sessions    map[skein.SessionID]*session
	newestLease map[skein.SessionID]*lease
	requests    map[request]skein.Usage // what was counted for each
	blobs       map[blobKey]*blob
	files       map[fileKey]*sourceFile
	tombs       map[tombstone]skein.Time
}

// A session has events of its own and may show those of another session before them.
type session struct {
	head     ledger.Head // without LockedBy
	base     *session    // has the events up to from; nil if from is 0
	from     skein.Seq   // the seq before own[0]
	own      []event     // its elements never change; it is replaced or grows
	clients  map[skein.ClientID][]skein.Seq
	standing *skein.LiveMessages // of what it shows; nil until it is needed
	stale    bool                // so is the head
	order    int                 // when it was made
}

// An event is an event with everything that was computed from it.
type event struct {
	skein.Event
	facts    skein.Facts
	hash     []byte       // [ledger.Hash]; nil without a client ID, or if it was scrubbed
	now      *skein.Facts // amended: facts of the new payload; nil if there is none, or if it is the original one
	prior    skein.Prior
	added    skein.Added
	after    skein.Shown // what a fork at this event shows
	stale    bool        // after does not say yet what the event's batch took back, withdrew or changed
	imported bool
	order    int
}

type request struct {
	user skein.User
	id   string
}

var _ skein.FullStore = (*Store)(nil)

// New returns an empty Store.
func New() *Store {
	return newStore(&data{
		changed:     make(chan struct{}),
		sessions:    map[skein.SessionID]*session{},
		newestLease: map[skein.SessionID]*lease{},
		requests:    map[request]skein.Usage{},
		blobs:       map[blobKey]*blob{},
		files:       map[fileKey]*sourceFile{},
		tombs:       map[tombstone]skein.Time{},
	}, "", false)
}

// As implements [skein.Store].
func (s *Store) As(u skein.User) skein.Store { return newStore(s.data, u, true) }

// Close implements [skein.Store]. There is no error.
func (s *Store) Close() error {
	if s.isView {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.announce()
	return nil
}

// enter takes the lock, or returns why the call cannot continue.
func (v *view) enter(ctx context.Context) error {
	v.mu.Lock()
	err := ctx.Err()
	if v.closed {
		err = skein.ErrClosed
	}
	if err != nil {
		v.mu.Unlock()
	}
	return err
}

// announce wakes the watchers.
func (d *data) announce() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// look returns the session id, if the view has it.
func (v *view) look(id skein.SessionID) (*session, error) {
	if sess := v.sessions[id]; sess != nil && v.sees(sess.head.User) {
		return sess, nil
	}
	return nil, fmt.Errorf("session %s %w", id, skein.ErrNotFound)
}

func (v *view) sees(u skein.User) bool { return ledger.View(v.user).Sees(u) }

// owner returns the owner of what is written without naming a user.
func (v *view) owner() skein.User { return ledger.View(v.user).Owner() }

func now() skein.Time { return skein.At(time.Now()) }

// size returns the bytes of e.
func (e *event) size() int64 { return int64(len(e.Payload)) + int64(len(e.ClientID)) + 32 }
