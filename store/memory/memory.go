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
	*data
	user skein.User // of the view; "" for all
	view bool       // closing it does nothing
}

// data is what a store and its views share.
type data struct {
	mu       sync.Mutex
	closed   bool
	changed  chan struct{} // closed and replaced at each change
	order    int           // counts what was stored
	fence    skein.Fence   // of the newest lease of any session
	sessions map[skein.SessionID]*session
	leases   map[skein.SessionID]*lease
	requests map[request]skein.Usage // what was counted for each
	blobs    map[blobKey]*blob
	files    map[fileKey]*sourceFile
	tombs    map[tombstone]skein.Time
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
	return &Store{data: &data{
		changed:  make(chan struct{}),
		sessions: map[skein.SessionID]*session{},
		leases:   map[skein.SessionID]*lease{},
		requests: map[request]skein.Usage{},
		blobs:    map[blobKey]*blob{},
		files:    map[fileKey]*sourceFile{},
		tombs:    map[tombstone]skein.Time{},
	}}
}

// As implements [skein.Store].
func (s *Store) As(u skein.User) skein.Store { return &Store{data: s.data, user: u, view: true} }

// Close implements [skein.Store]. There is no error.
func (s *Store) Close() error {
	if s.view {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.announce()
	return nil
}

// enter takes the lock, or returns why the call cannot continue.
func (s *Store) enter(ctx context.Context) error {
	s.mu.Lock()
	err := ctx.Err()
	if s.closed {
		err = skein.ErrClosed
	}
	if err != nil {
		s.mu.Unlock()
	}
	return err
}

// announce wakes the watchers.
func (s *Store) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// look returns the session id, if the view has it.
func (s *Store) look(id skein.SessionID) (*session, error) {
	if sess := s.sessions[id]; sess != nil && s.sees(sess.head.User) {
		return sess, nil
	}
	return nil, fmt.Errorf("session %s %w", id, skein.ErrNotFound)
}

func (s *Store) sees(u skein.User) bool { return ledger.View(s.user).Sees(u) }

// owner returns the owner of what is written without naming a user.
func (s *Store) owner() skein.User { return ledger.View(s.user).Owner() }

func now() skein.Time { return skein.At(time.Now()) }

// size returns the bytes of e.
func (e *event) size() int64 { return int64(len(e.Payload)) + int64(len(e.ClientID)) + 32 }
