package importer

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/store/lenient"
)

// forkIfDiverged begins a fork, at the last event that both have, if the file went
// on with a conversation that continued here too. So neither branch of the conversation
// ends up in the middle of the other.
func (t *Target) forkIfDiverged(ctx context.Context, key skein.ClientID, items []interop.Item) error {
	th := t.main
	if t.alone || !th.begun || t.Job.Known.Session == "" || t.ends == 0 {
		return nil
	}
	if news, err := t.isNews(ctx, key, items); !news || err != nil {
		return err
	}
	sess, err := t.store.Session(ctx, th.id)
	if errors.Is(err, skein.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if t.alone = sess.Last == max(t.ends, th.last); t.alone {
		return nil
	}
	p := ProvenanceOf{File: t.file, Echoes: t.Job.State.Echoes}
	if err := p.look(ctx, lenient.Store(t.store, nil), sess); err != nil {
		return err
	}
	t.alone, th.last = true, sess.Last
	if at := p.ForkAt(); at != 0 {
		t.branch(sess, at)
	}
	return nil
}

// isNews reports whether a record has a step of the conversation that the session
// does not have. In a file that was rewritten, most records do not.
func (t *Target) isNews(ctx context.Context, key skein.ClientID, items []interop.Item) (bool, error) {
	if !slices.ContainsFunc(items, func(it interop.Item) bool { return it.Session == "" && reconcile.Talks(it.Event.Kind) }) || isAside(items) {
		return false, nil
	}
	if t.Job.State.Rewriting {
		if err := t.begin(ctx, t.main, key); err != nil { // it looks at what the store has
			return false, err
		}
	}
	if err := t.main.locate(ctx, t.store, key, len(items)); err != nil {
		return false, err
	}
	used := map[skein.ClientID]bool{}
	for i, it := range items {
		id := reconcile.ClientID(key, i, len(items))
		if it.Session == "" && reconcile.Talks(it.Event.Kind) && t.main.stored.Seq(t.main.stored.Named(key, id, it.Event.Kind, used)) == 0 {
			return true, nil
		}
	}
	return false, nil
}

// isAside reports whether a record takes back all that it says: it is not a step
// of the conversation.
func isAside(items []interop.Item) bool {
	said := false
	for i, it := range items {
		if it.Event.Kind == skein.KindRewound {
			return said && !slices.ContainsFunc(items[i+1:], func(it interop.Item) bool { return reconcile.Talks(it.Event.Kind) })
		}
		said = said || it.Event.Kind == skein.KindSaid
	}
	return false
}

// branch directs what comes next into a fork of the session, at seq.
func (t *Target) branch(sess skein.Session, at skein.Seq) {
	th := t.main
	hash := reconcile.Mark(t.file.Path + "\x00" + string(sess.ID) + "\x00" + strconv.FormatInt(int64(at), 10))
	fork := sess.ID[:min(len(sess.ID), skein.MaxIDLen-len(hash))] + skein.SessionID(hash)
	created := th.begin.Created
	created.Key, created.Origin = "", sess.Origin
	created.Parent = &skein.Parent{Session: sess.ID, Seq: at, Why: skein.Fork}
	th.id, th.fork, th.base, th.last, th.stored = fork, created.Parent, at, at, nil
	th.shared, t.Job.State.Back = true, 0 // look at what the parent has
	t.file.Session = fork
	e := skein.NewEvent(skein.KindCreated, th.begin.Time, created)
	e.ClientID = interop.CreatedID
	th.events = slices.DeleteFunc(th.events, func(w waiting) bool { return w.event.Kind == skein.KindAmended && th.inherits(w.event) })
	th.events = append([]waiting{{e, -1, nowhere}}, th.events...) // what came before is not a step of the conversation
}
