package importer

import (
	"context"
	"errors"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/reconcile"
)

// begins notes the sessions that a record begins. They are created with their
// first event.
func (t *Target) begins(record int, bs []interop.Begin) {
	for _, b := range bs {
		th := t.session(b.Name)
		if th.begun && th.begin.Created.Origin != nil {
			continue
		}
		if b.Created.Origin == nil {
			b.Created.Origin = &skein.Origin{ID: string(b.ID)}
		}
		o := *b.Created.Origin
		o.Format, o.Path = t.Job.Format.Name, t.file.Path
		b.Created.Origin = &o
		th.begin = b
		switch {
		case b.Name == "":
			t.file.ID = o.ID
		case record < t.Job.Old:
			th.begun, th.id = true, b.ID
			if id, ok := t.Job.State.Sessions[b.Name]; ok {
				th.id = id
			}
		}
	}
}

// errTaken says that another import has begun to read the same file.
var errTaken = errors.New("another import is reading it")

// begin creates the session of th, if it has none yet, for the record with
// this key.
func (t *Target) begin(ctx context.Context, th *fileSession, key skein.ClientID) (err error) {
	if th.begun {
		back := th == t.main && t.Job.State.Back != 0
		if th.stored != nil || !th.shared && !t.Job.State.Rewriting && !t.Job.State.Withdrew && !back {
			return nil
		}
		if err := th.load(ctx, t.store); err != nil {
			return err
		}
		if back && !t.Job.State.Rewriting { // then all that comes is new
			th.stored.TakeBack(t.Job.State.Back)
		}
		return nil
	}
	b := th.begin
	if b.Created.Origin == nil {
		b.Created.Origin = &skein.Origin{Format: t.Job.Format.Name, Path: t.file.Path}
	}
	if th != t.main {
		if err := t.begin(ctx, t.session(b.Of), key); err != nil {
			return err
		}
	}
	if th == t.main {
		switch f, err := skein.SourcesOf(t.store).File(ctx, t.file.Format, t.file.Path); {
		case err == nil && f.Session != "":
			return errTaken
		case err != nil && !errors.Is(err, skein.ErrNotFound):
			return err
		}
	}
	created := b.Created
	if created.Parent != nil {
		if created.Parent, err = t.parent(ctx, th, b); err != nil {
			return err
		}
	}
	var rewind skein.Seq
	if th == t.main && t.copies != nil && t.copies.n > 0 {
		fork, to, err := t.copies.fork(ctx)
		if err != nil {
			return err
		}
		if t.known.Moved(b.ID, fork.Session, t.file) {
			th.id, th.shared = fork.Session, true
		} else {
			created.Parent, th.fork, th.base, rewind = fork, fork, fork.Seq, to
		}
	}
	if !th.shared {
		if th.id, th.shared, err = t.pick(ctx, b, created.Origin, key); err != nil {
			return err
		}
	}
	th.begun = true
	if th == t.main {
		t.file.Session, t.file.CopyOf = th.id, ""
	}
	if th.shared {
		return th.load(ctx, t.store)
	}
	if p := created.Parent; p != nil && p.Session == th.id { // it names itself as its parent
		created.Parent = nil
	}
	if err := t.folders.identify(ctx, t.store, &created, b.Is); err != nil {
		return err
	}
	t.folders.fill(&created)
	e := skein.NewEvent(skein.KindCreated, b.Time, created)
	e.ClientID = interop.CreatedID
	th.events = append(th.events, waiting{e, -1, nowhere})
	if rewind != 0 {
		if err := th.load(ctx, t.store); err != nil {
			return err
		}
		th.stored.TakeBack(rewind)
		t.Job.State.Back = rewind
		e := skein.NewEvent(skein.KindRewound, b.Time, skein.Rewound{To: rewind})
		e.ClientID = reconcile.RewoundID
		th.events = append(th.events, waiting{e, -1, nowhere})
	}
	return nil
}

// maxKeys is how many client IDs of a record are looked up.
const maxKeys = 1000

// pick returns an ID for a session that begins: the wanted one if it is free.
// theirs says that it is taken by the same session, read from another file,
// which has the record with this key.
func (t *Target) pick(ctx context.Context, b interop.Begin, o *skein.Origin, key skein.ClientID) (id skein.SessionID, theirs bool, err error) {
	id = b.ID
	if id.Check() != nil {
		id = skein.SessionID(t.Job.Format.Name)
	} else {
		s, err := t.store.Session(ctx, id)
		switch {
		case errors.Is(err, skein.ErrNotFound):
			if !t.waits(id) {
				return id, false, nil
			}
		case err != nil:
			return "", false, err
		case s.Origin != nil && s.Origin.Format == o.Format && s.Origin.ID == o.ID:
			var keys []skein.ClientID
			if key != "" {
				keys = reconcile.ClientIDs(key, min(max(4, t.making), maxKeys))
			}
			if theirs, err := t.known.HasOf(ctx, id, b.Name, keys); theirs || err != nil {
				return id, theirs, err
			}
		}
	}
	of := o.Format + "\x00" + t.file.Path + "\x00" + string(b.ID)
	if t.waits(b.ID) {
		of += "\x00" + b.Name
	}
	hash := reconcile.Mark(of)
	id = id[:min(len(id), skein.MaxIDLen-len(hash))] + skein.SessionID(hash)
	_, err = t.store.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) {
		return id, false, nil
	}
	return id, err == nil, err
}

// waits reports whether a session of this file has begun that has or will have
// this ID: the store may not know it yet.
func (o *outbox) waits(id skein.SessionID) bool {
	return slices.ContainsFunc(o.order, func(th *fileSession) bool { return th.begun && th.id == id })
}

// parent returns a child's parent.
func (t *Target) parent(ctx context.Context, th *fileSession, b interop.Begin) (*skein.Parent, error) {
	p := *b.Created.Parent
	if b.ParentID != "" {
		return &p, t.parents.parentElsewhere(ctx, t.Job.Format.Name, b, &p)
	}
	of := t.session(b.Of)
	if of == th {
		return nil, nil
	}
	seq, err := t.seq(ctx, of, b.At)
	p.Session, p.Seq = of.id, seq
	return &p, err
}
