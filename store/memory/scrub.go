package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/erase"
	"github.com/skein-dev/skein/store/ledger"
)

// Scrub implements [skein.Lifecycle].
func (s lifecycle) Scrub(ctx context.Context, id skein.SessionID, secrets []string) (done skein.Scrubbed, err error) {
	defer skein.Wrapf(&err, "memory: scrub")
	m, err := erase.NewMasker(secrets)
	if err != nil {
		return done, err
	}
	if err := s.enter(ctx); err != nil {
		return done, err
	}
	defer s.mu.Unlock()
	sess, err := s.look(id)
	if err != nil {
		return done, err
	}
	sc := &scrub{view: s.view, Masker: m, user: sess.head.User, events: map[*event]event{}}
	if err := sc.findBlobs(sess); err != nil {
		return done, err
	}
	if err := sc.findEvents(sess); err != nil {
		return done, err
	}
	touched := sc.touched()
	for _, t := range touched {
		if t != sess {
			sc.Done.Forks = append(sc.Done.Forks, t.head.ID)
		}
	}
	sc.replace()
	for _, t := range s.sessions {
		if t == sess || slices.Contains(touched, t) {
			t.head.Revision++
			sc.Done.Records += sc.records(&t.head.Session)
		}
	}
	refolded := map[*session]bool{}
	for _, t := range touched {
		t.refold(refolded)
	}
	sc.Done.Events = len(sc.events)
	return sc.Done, s.note(sess, sc.Note(now()))
}

// A scrub is one call of Scrub.
type scrub struct {
	*view
	*erase.Masker
	user   skein.User
	events map[*event]event // events that had a secret, and what they become
}

func (sc *scrub) findBlobs(sess *session) error {
	for e := range sess.shown(sess.head.Last) {
		for _, h := range e.blobs() {
			if err := sc.Blob(h, sc.blobs[blobKey{sc.user, h}].data, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func (sc *scrub) findEvents(sess *session) error {
	for e := range sess.shown(sess.head.Last) {
		payload, _, found := sc.Payload(e.Payload)
		if !found {
			continue
		}
		is := *e
		is.Payload, is.hash = payload, nil
		var err error
		if is.facts, err = skein.FactsOf(is.Event); err != nil {
			return erase.NoLongerValid(e.Seq, err)
		}
		if a := is.facts.Amended; a != nil && e.now != nil {
			if is.now, err = ledger.Now(&is.facts, ledger.Target{Kind: sess.at(a.Seq).Kind}); err != nil {
				return erase.NoLongerValid(e.Seq, err)
			}
		}
		sc.events[e] = is
	}
	return nil
}

// touched returns the sessions that show a changed event, by ID.
func (sc *scrub) touched() (all []*session) {
	for _, sess := range sc.sessions {
		for e := range sess.shown(sess.head.Last) {
			if _, ok := sc.events[e]; ok {
				all = append(all, sess)
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b *session) int {
		return strings.Compare(string(a.head.ID), string(b.head.ID))
	})
	return all
}

// replace replaces events and blobs by the masked ones.
func (sc *scrub) replace() {
	for _, sess := range sc.sessions {
		own := slices.Clone(sess.own)
		for i := range own {
			is, ok := sc.events[&sess.own[i]]
			if !ok {
				continue
			}
			for _, h := range own[i].blobs() {
				if b, ok := sc.Replacement(h); ok {
					sc.moveBlob(h, b)
				}
			}
			own[i] = is
		}
		sess.own = own
		sess.index()
	}
}

// moveBlob moves one reference to the blob h to b.
func (sc *scrub) moveBlob(h skein.Hash, b skein.Blob) {
	to := blobKey{sc.user, b.Hash}
	if sc.blobs[to] == nil {
		sc.blobs[to] = &blob{data: b.Data}
	}
	sc.blobs[to].refs++
	sc.dropBlob(blobKey{sc.user, h})
}

// records masks the source records of the session h and returns how many had a
// secret.
func (sc *scrub) records(h *skein.Session) (n int) {
	for k, f := range sc.files {
		if !f.is(k, h) {
			continue
		}
		is := *f
		is.State, _ = sc.Mask(is.State)
		is.records = slices.Clone(is.records)
		n += sc.Records(is.records)
		sc.files[k] = &is
	}
	return n
}

// refold recomputes sess from its events, after its base, unless it is in done.
func (sess *session) refold(done map[*session]bool) {
	if sess == nil || done[sess] {
		return
	}
	done[sess] = true
	sess.base.refold(done)
	was := sess.head
	head, usage := skein.Session{}, skein.Usage{}
	standing := skein.LiveMessages{}
	if sess.base != nil {
		for e := range sess.base.shown(sess.from) {
			_ = standing.Add(e.Event) //nolint:errcheck // it was stored
		}
	}
	for i := range sess.own {
		e := &sess.own[i]
		if c := e.facts.Created; c != nil {
			usage = usage.Plus(head.Usage)
			head = skein.Session{} // without its ID: events that moved here may be of a child of this session
			if e.Seq > 1 {
				e.prior.Base = sess.showsAt(e.Seq - 1)
			}
			c.User = was.User
		}
		e.added, _ = head.Apply(&e.Event, e.facts, e.prior)
		_ = standing.Add(e.Event) //nolint:errcheck // it was stored
		if e.added.Stale {
			head.SetShown(standing.Shown())
		}
		e.after, e.stale = head.Shown(), false
	}
	sess.standing = nil
	head.Usage = head.Usage.Plus(usage)
	head.ID, head.Revision, head.Binned = was.ID, was.Revision, was.Binned
	sess.head.Session = head
}
