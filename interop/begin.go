package interop

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/store/lenient"
)

// begins notes the sessions that a record begins. They are created with their
// first event.
func (t *target) begins(ctx context.Context, record int, bs []Begin) error {
	for _, b := range bs {
		th := t.session(b.Name)
		if th.begun && th.begin.Created.Origin != nil {
			continue
		}
		if b.Created.Origin == nil {
			b.Created.Origin = &skein.Origin{ID: string(b.ID)}
		}
		o := *b.Created.Origin
		o.Format, o.Path = t.w.format.Name, t.file.Path
		b.Created.Origin = &o
		th.begin = b
		switch {
		case b.Name == "":
			t.file.ID = o.ID
		case record < t.w.old:
			th.begun, th.id = true, b.ID
			if id, ok := t.w.state.Sessions[b.Name]; ok {
				th.id = id
			}
		}
	}
	return ctx.Err()
}

// errTaken says that another import has begun to read the same file.
var errTaken = errors.New("another import is reading it")

// begin creates the session of th, if it has none yet, for the record with
// this key.
func (t *target) begin(ctx context.Context, th *fileSession, key skein.ClientID) (err error) {
	if th.begun {
		if th.stored == nil && (th.shared || t.w.state.Rewriting || t.w.state.Withdrew) {
			return th.load(ctx, t.im.store)
		}
		return nil
	}
	b := th.begin
	if b.Created.Origin == nil {
		b.Created.Origin = &skein.Origin{Format: t.w.format.Name, Path: t.file.Path}
	}
	if th != t.main {
		if err := t.begin(ctx, t.session(b.Of), key); err != nil {
			return err
		}
	}
	if th == t.main {
		switch f, err := skein.SourcesOf(t.im.store).File(ctx, t.file.Format, t.file.Path); {
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
		if t.im.moved(b.ID, fork.Session, t.file) {
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
		return th.load(ctx, t.im.store)
	}
	if p := created.Parent; p != nil && p.Session == th.id { // it names itself as its parent
		created.Parent = nil
	}
	e := skein.NewEvent(skein.KindCreated, b.Time, created)
	e.ClientID = CreatedID
	th.events = append(th.events, waiting{e, -1, nowhere})
	if rewind != 0 {
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
func (t *target) pick(ctx context.Context, b Begin, o *skein.Origin, key skein.ClientID) (id skein.SessionID, theirs bool, err error) {
	id = b.ID
	if id.Check() != nil {
		id = skein.SessionID(t.w.format.Name)
	} else {
		s, err := t.im.store.Session(ctx, id)
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
			if theirs, err := t.im.hasOf(ctx, id, b.Name, keys); theirs || err != nil {
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
	_, err = t.im.store.Session(ctx, id)
	if errors.Is(err, skein.ErrNotFound) {
		return id, false, nil
	}
	return id, err == nil, err
}

// waits reports whether a session of this file has begun that has or will have
// this ID: the store may not know it yet.
func (t *target) waits(id skein.SessionID) bool {
	return slices.ContainsFunc(t.order, func(th *fileSession) bool { return th.begun && th.id == id })
}

// hasOf is has for a session with this name in its file. keys are those of a record,
// empty if there is no record. A session that came from another store, without a
// file, is recognized by its events.
func (im *importer) hasOf(ctx context.Context, id skein.SessionID, name string, keys []skein.ClientID) (bool, error) {
	if name != "" {
		if theirs, err := im.has(ctx, id, keys); theirs || err != nil {
			return theirs, err
		}
	}
	if len(keys) == 0 || len(im.pathsOf(id)) > 0 {
		return false, nil
	}
	for e, err := range lenient.Store(im.store, nil).Events(ctx, id, 0) {
		if err != nil || slices.Contains(keys, e.ClientID) {
			return err == nil, err
		}
	}
	return false, nil
}

// has reports whether session id has one of the events with these client IDs.
func (im *importer) has(ctx context.Context, id skein.SessionID, keys []skein.ClientID) (bool, error) {
	places, err := skein.SourcesOf(im.store).Find(ctx, keys)
	for _, p := range places {
		if p.Session == id {
			return true, err
		}
	}
	return false, err
}

// parent returns a child's parent.
func (t *target) parent(ctx context.Context, th *fileSession, b Begin) (*skein.Parent, error) {
	p := *b.Created.Parent
	if b.ParentID != "" {
		return &p, t.im.parentElsewhere(ctx, t.w.format.Name, b, &p)
	}
	of := t.session(b.Of)
	if of == th {
		return nil, nil
	}
	seq, err := t.seq(ctx, of, b.At)
	p.Session, p.Seq = of.id, seq
	return &p, err
}

// moved reports whether the file of a session was moved to where f is: f has the same
// session, and the files that it was read from are gone or replaced.
func (im *importer) moved(wanted, id skein.SessionID, f skein.SourceFile) bool {
	if wanted != id {
		return false
	}
	for _, path := range im.pathsOf(id) {
		if _, err := os.Lstat(im.onDisk(path)); path == f.Path || !errors.Is(err, fs.ErrNotExist) && !im.replaced(path, f) {
			return false
		}
	}
	return len(im.pathsOf(id)) > 0
}

// replaced reports whether f now holds what a store knows by path.
func (im *importer) replaced(path string, f skein.SourceFile) bool {
	of := im.format(f.Format)
	return of != nil && of.Replaces != nil && of.Name == im.files[path].Format &&
		of.Replaces(filepath.ToSlash(im.onDisk(f.Path)), filepath.ToSlash(im.onDisk(path)))
}

// parentElsewhere fills in p for a child whose parent is in another file: its
// session and, if that was imported before, the call that started the child.
func (im *importer) parentElsewhere(ctx context.Context, format string, b Begin, p *skein.Parent) error {
	if p.Session = im.byProgramID(format, b.ParentID); p.Session.Check() != nil {
		p.Session = skein.SessionID("unknown" + reconcile.Mark(b.ParentID))
	}
	// The parent may be read later, and get another ID then. A store that refuses access
	// to the parent does not refuse the child.
	if here, err := skein.Here(ctx, im.store, p.Session); err == nil {
		p.Session = here
	}
	calls, err := im.childCalls(ctx, p.Session)
	if c, ok := calls[b.ID]; ok && p.Seq == 0 {
		p.Seq = c.seq
		if p.Call == "" {
			p.Call = c.call
		}
	}
	return err
}

// byProgramID returns the session with this ID in its own program.
func (im *importer) byProgramID(format, id string) skein.SessionID {
	for _, path := range im.pathsOfID(format, id) {
		return im.files[path].Session
	}
	return skein.SessionID(id)
}

// childCall is the call that started a child, and where it is in the parent.
type childCall struct {
	call string
	seq  skein.Seq
}

// childCalls returns the calls of a session that started children. It caches the
// answer for the last session: children come one after the other.
func (im *importer) childCalls(ctx context.Context, id skein.SessionID) (map[skein.SessionID]childCall, error) {
	if im.callsOf == id {
		return im.calls, nil
	}
	calls, sites := map[skein.SessionID]childCall{}, map[string]skein.Seq{}
	for e, err := range lenient.Store(im.store, nil).Events(ctx, id, 0) {
		if errors.Is(err, skein.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case skein.KindSaid:
			if m, err := skein.Decode[skein.Message](e); err == nil {
				for _, p := range m.Parts {
					if p.Call != nil {
						sites[p.Call.ID] = e.Seq
					}
				}
			}
		case skein.KindTool:
			if s, err := skein.Decode[skein.ToolState](e); err == nil && s.Child != "" {
				seq := e.Seq
				if at, ok := sites[s.Call]; ok {
					seq = at
				}
				calls[s.Child] = childCall{s.Call, seq}
			}
		}
	}
	im.callsOf, im.calls = id, calls
	return calls, nil
}
