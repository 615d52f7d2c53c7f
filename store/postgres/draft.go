package postgres

import (
	"maps"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/ledger"
)

// A draft is one session as a group of appends will leave it: what is stored
// of it, as far as these have to know, and the rows to write.
type draft struct {
	head
	was    head // as it is stored
	begins bool // it has no row in sessions yet
	asks   asks
	lease  leaseState

	clients  map[skein.ClientID]ledger.Place // what it has of the client IDs that were looked up, and those of the drafted events
	messages map[string]bool                 // the same of message IDs
	targets  map[skein.Seq]ledger.Target     // the events that are amended

	events  eventRows
	charges chargeRows
	refs    refRows
	base    int64            // of a fork that begins: bases.base
	gaps    []skein.SeqRange // of such a fork: what was taken back of what it shows
	marked  bool             // anything in it was taken back or amended; known where a message ID was looked up
	shakes  []shake          // after which what stands is to be brought up to date
	shook   bool             // there were some in this transaction
	stood   bool             // it was brought up to date, which is to be written
	fences  []int64
	free    bool  // nobody may hold the lease
	grew    int64 // bytes
	flushed int64 // bytes that were written before, in the same transaction

	// What was taken for granted: it has none of these.
	noClients, noMessages, noRequests []string
}

func newDraft(h head) *draft {
	return &draft{head: h, was: h, clients: map[skein.ClientID]ledger.Place{}, messages: map[string]bool{}, targets: map[skein.Seq]ledger.Target{}}
}

// A leaseState is what is known of a session's newest lease.
type leaseState struct {
	epoch  skein.Fence
	held   bool
	holder skein.Holder
}

// changed reports whether there is anything to write.
func (d *draft) changed() bool { return len(d.events.at) > 0 || d.grew != 0 || d.stood }

// moves reports whether the usage of d becomes another project's or agent's.
func (d *draft) moves() bool {
	return !d.begins && (d.Project != d.was.Project || d.Agent != d.was.Agent)
}

// work is what a group of appends is worked out on. What one of them did is
// undone if it fails.
type work struct {
	s       *Store
	looked  bool // everything was looked up; else what is not known is taken for granted
	alone   bool // there is one job: if it fails, nothing is written
	drafts  map[skein.SessionID]*draft
	charged map[request]skein.Usage
	keys    map[userKey]int64 // number of the live session with a key; 0 if there is none
	brought map[userBlob]packedBlob
	stored  map[userBlob]bool    // blobs that must be there: by the group, or before
	quotas  map[skein.User]quota // of those whose session it is; a user of whom nothing is known is free
	tombs   map[tombOf]bool      // tombstones that there are
	lift    []tombOf             // those to take away
	tx      *tx                  // of a group that was looked up
	shownBy []parentRow          // that must still be as they were read
	files   map[fileKey]*fileDraft
	order   []skein.SessionID // in which the drafts are written
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

func newWork(s *Store) *work {
	return &work{
		s: s, drafts: map[skein.SessionID]*draft{}, charged: map[request]skein.Usage{}, keys: map[userKey]int64{},
		brought: map[userBlob]packedBlob{}, stored: map[userBlob]bool{}, tombs: map[tombOf]bool{},
		files: map[fileKey]*fileDraft{}, quotas: map[skein.User]quota{},
	}
}

// put sets m[k] until it is undone.
func put[K comparable, V any](w *work, m map[K]V, k K, v V) {
	was, had := m[k]
	m[k] = v
	w.undo = append(w.undo, func() {
		if m[k] = was; !had {
			delete(m, k)
		}
	})
}

// job works out one call of Append. If it returns an error, w is as it was.
func (w *work) job(j *job) (rs []skein.Receipt, err error) {
	w.undo = w.undo[:0]
	before := map[*draft]draft{}
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
