package postgres

import (
	"maps"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
	"github.com/skein-dev/skein/store/pack"
)

// A sessionDraft is one session as a group of appends will leave it: what is stored of it,
// as far as the group needs to know, and the rows to write.
type sessionDraft struct {
	head
	was    head // as it is stored
	begins bool // it has no row in sessions yet
	knownSession
	assumed
	newRows
	shakes  []shake // after these, what is live must be updated
	shook   bool    // there were shakes in this transaction
	stood   bool    // what is live was updated and has to be written
	grew    int64   // bytes
	flushed int64   // bytes written earlier in the same transaction
}

// What is known of the session of a draft, because it was looked up or drafted.
type knownSession struct {
	asks     asks
	lease    leaseState
	clients  map[skein.ClientID]ledger.Place // those of the client IDs looked up that it has, and those of the drafted events
	messages map[string]bool                 // message IDs likewise; whether the message is live
	targets  map[skein.Seq]ledger.Target     // the events that are amended
	marked   bool                            // something in it was taken back or amended; known if a message ID was looked up
}

// What is assumed of a draft's session, for the statement that writes it to check.
type assumed struct {
	fences                            []int64 // of its newest lease
	free                              bool    // nobody holds the lease
	noClients, noMessages, noRequests []string
}

// newRows are a draft's rows to write, besides the session's own.
type newRows struct {
	events  eventRows
	charges chargeRows
	refs    refRows
	base    int64            // for a fork that begins: bases.base
	gaps    []skein.SeqRange // for such a fork: the ranges that it shows and that were taken back
}

func newDraft(h head) *sessionDraft {
	return &sessionDraft{head: h, was: h, knownSession: knownSession{clients: map[skein.ClientID]ledger.Place{}, messages: map[string]bool{}, targets: map[skein.Seq]ledger.Target{}}}
}

// A leaseState is what is known of a session's newest lease.
type leaseState struct {
	epoch  skein.Fence
	held   bool
	holder skein.Holder
}

// changed reports whether there is anything to write.
func (d *sessionDraft) changed() bool { return len(d.events.at) > 0 || d.grew != 0 || d.stood }

// moves reports whether the project, repository or agent that the usage of d counts
// for changes.
func (d *sessionDraft) moves() bool {
	return !d.begins && (d.Project != d.was.Project || d.Checkout.Repository != d.was.Checkout.Repository || d.Agent != d.was.Agent)
}

// work is the state on which a group of appends is computed. If one of them fails,
// its changes are undone.
type work struct {
	s       *view
	looked  bool // everything was looked up; else what is unknown is assumed
	alone   bool // there is one job: if it fails, nothing is written
	drafts  map[skein.SessionID]*sessionDraft
	charged map[request]skein.Usage
	keys    map[userKey]int64 // number of the session with a key, not in the bin; 0 without one
	blobs   blobDrafts
	quotas  map[skein.User]quota // of the owners of the sessions; an unknown user has no quota
	tombs   map[tombOf]bool      // tombstones that exist
	lift    []tombOf             // tombstones to remove
	tx      *tx                  // set if looked
	shownBy []parentRow          // parents that must not have changed since they were read
	files   fileDrafts
	order   []skein.SessionID // the order in which the drafts are written
	ordinal int               // of the next row in journal
	added   int               // events that were written
	touched []skein.SessionID
	undo    []func()
}

type request struct {
	user skein.User
	id   string
}

type userKey struct {
	user skein.User
	key  string
}

type userBlob struct {
	user skein.User
	hash skein.Hash
}

func newWork(s *view) *work {
	return &work{
		s: s, drafts: map[skein.SessionID]*sessionDraft{}, charged: map[request]skein.Usage{}, keys: map[userKey]int64{},
		blobs: blobDrafts{map[userBlob]pack.Blob{}, map[userBlob]bool{}, map[blobRef]bool{}}, tombs: map[tombOf]bool{},
		files: fileDrafts{}, quotas: map[skein.User]quota{},
	}
}

// put sets m[k] to v and notes how to undo it.
func put[K comparable, V any](w *work, m map[K]V, k K, v V) {
	was, had := m[k]
	m[k] = v
	w.undo = append(w.undo, func() {
		if m[k] = was; !had {
			delete(m, k)
		}
	})
}

// job computes what one call of Append changes. If it returns an error, w is
// unchanged.
func (w *work) job(j *job) (rs []skein.Receipt, err error) {
	w.undo = w.undo[:0]
	before := map[*sessionDraft]sessionDraft{}
	for i := range j.batches {
		if d := w.drafts[j.batches[i].Session]; d != nil {
			before[d] = *d
		}
	}
	files, lift := map[*fileDraft]fileDraft{}, w.lift
	for _, f := range w.files {
		files[f] = *f
	}
	rs = make([]skein.Receipt, len(j.batches))
	for i := range j.batches {
		if rs[i], err = w.batch(&j.batches[i]); err != nil {
			break
		}
	}
	if err == nil {
		err = w.spend(before)
	}
	if err == nil {
		return rs, nil
	}
	for i := len(w.undo) - 1; i >= 0; i-- {
		w.undo[i]()
	}
	for d, was := range maps.All(before) {
		*d = was
	}
	for f, was := range files {
		*f = was
	}
	w.lift = lift
	return nil, err
}
