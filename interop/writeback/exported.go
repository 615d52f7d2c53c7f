package writeback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
)

// Exports says how to export. The zero value is the usual case.
type Exports struct {
	NoChildren bool      // leave out the sessions that it started
	NoSide     bool      // write no side file: then the round trip is not exact, and Losses has only what the format itself reports
	Cwd        string    // absolute: the folder for the agent to work in; "" for the session's
	Over       bool      // replace what somebody else has changed
	Now        time.Time // zero for the clock's time
	Places     []string  // where the program looks, below home: a source that would go elsewhere unchanged is rewritten
}

// An Exported is a session that was written.
type Exported struct {
	Session skein.SessionID `json:"session"`
	Spot    interop.Spot    `json:"spot"`
	Exact   bool            `json:"exact"` // the bytes that it was read from
	Losses  interop.Losses  `json:"losses,omitempty"`
	Side    string          `json:"side,omitempty"`    // path of the side file
	Damaged []string        `json:"damaged,omitempty"` // what of it cannot be read here, in words: a placeholder was written in place of an event

	Unchanged bool `json:"unchanged,omitempty"` // it was there already, and nothing was written
}

// Export writes a session and the sessions that it started to home, the folder that
// stands for the one where f's program keeps its files. One that was read from such
// files and has not continued here is written byte for byte as they were; for others,
// what the program cannot hold is in Losses and, with everything else, in a side file,
// from which an import makes the same session again. A session that was written there
// before, or is there as it was read, is brought up to date; if nothing is new, nothing
// is written. What somebody else has changed stays, unless Exports.Over says to replace
// it; the file that the session came from stays in any case. Export skips what is
// damaged in the store: then the bytes that the session was read from are written only
// as far as they can be found elsewhere, see Exported.Damaged.
//
// The error wraps [skein.ErrNotFound], [skein.ErrInvalid] if f cannot be
// written or the session has nothing that it could hold, or [skein.ErrExists]
// or [interop.ErrChanged] if something else is in its place; others are the store's
// and the system's. What was written before is returned with it.
func Export(ctx context.Context, s skein.Store, f interop.Format, id skein.SessionID, home string, o Exports) (done []Exported, err error) {
	defer skein.Wrapf(&err, "interop: export %s as %s", id, f.Name)
	x, err := newExporter(s, f, home, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.looked.close()) }()
	r := x.root(ctx, id)
	x.flush(ctx)
	r.end()
	return r.done, r.err
}

// ExportAll is like [Export] for many sessions, one after the other. Those that go
// into one database are put into it together; so tell, which is called once for each
// of ids and in their order with what Export returns, may be called for one only
// after the next has begun.
//
// The error is tell's, which ends it, or ctx's.
func ExportAll(ctx context.Context, s skein.Store, f interop.Format, ids []skein.SessionID, home string, o Exports, tell func(skein.SessionID, []Exported, error) error) (err error) {
	x, err := newExporter(s, f, home, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.looked.close()) }()
	var open []*exportResult
	for i, id := range ids {
		open = append(open, x.root(ctx, id))
		if i == len(ids)-1 {
			x.flush(ctx)
		}
		if len(x.batch.waits) > 0 {
			continue
		}
		for _, r := range open {
			r.end()
			skein.Wrapf(&r.err, "interop: export %s as %s", r.root, f.Name)
			if err := cmp.Or(ctx.Err(), tell(r.root, r.done, r.err)); err != nil {
				return err
			}
		}
		open = nil
	}
	return nil
}

// An exporter is one call of Export or ExportAll.
type exporter struct {
	sideWriter
	raw   skein.Store
	o     Exports
	spots map[skein.SessionID]interop.Spot // of what was written, or is in the batch
	files map[string]bool                  // written unchanged for this root, by their paths in the store
	now   *exportResult                    // of the root that is being written
	batch batch
	memo  map[string]any           // see Once
	anew  map[skein.SessionID]bool // sessions whose rows are taken, so they are written with others
	asked map[skein.SessionID]bool // see ancestor
}

// An exportResult is what happened to a session that was to be exported, and of those that it
// started.
type exportResult struct {
	root skein.SessionID
	done []Exported
	lost []skein.SessionID       // that started one in which nothing was said
	turn map[skein.SessionID]int // the order in which they were taken up
	err  error
}

// end sorts the sessions in the order in which they were taken up, and records with
// each what happened to those that it started.
func (r *exportResult) end() {
	slices.SortStableFunc(r.done, func(a, b Exported) int { return cmp.Compare(r.turn[a.Session], r.turn[b.Session]) })
	for i := range r.done {
		for _, id := range r.lost {
			if r.done[i].Session == id {
				r.done[i].Losses.Add(0, "child session without messages: left out")
			}
		}
	}
	r.lost = nil
}

func newExporter(s skein.Store, f interop.Format, home string, o Exports) (_ *exporter, err error) {
	x := &exporter{raw: s, o: o, spots: map[skein.SessionID]interop.Spot{}, memo: map[string]any{}, anew: map[skein.SessionID]bool{}, asked: map[skein.SessionID]bool{}}
	if x.o.Now.IsZero() {
		x.o.Now = time.Now()
	}
	x.format, x.hurt, x.none = f, damages{}, o.NoSide
	x.store = legible(s, &x.format, x.hurt)
	x.home, err = filepath.Abs(home)
	return x, err
}

// root writes a session and those that it started, or puts some of them into the batch.
func (x *exporter) root(ctx context.Context, id skein.SessionID) *exportResult {
	x.now, x.files = &exportResult{root: id, turn: map[skein.SessionID]int{}}, map[string]bool{}
	if err := x.tree(ctx, id); x.now.err == nil {
		x.now.err = err
	}
	return x.now
}

// tree writes a session and then those that it started.
func (x *exporter) tree(ctx context.Context, id skein.SessionID) error {
	if _, ok := x.spots[id]; ok {
		return nil
	}
	sess, err := x.store.Session(ctx, id)
	if err != nil {
		return err
	}
	if err := x.one(ctx, sess); err != nil {
		skein.Wrapf(&err, "session %s", id)
		return err
	}
	if x.o.NoChildren {
		return nil
	}
	for c, err := range x.store.Sessions(ctx, skein.Filter{Parent: id}) {
		switch {
		case err != nil:
			return err
		case c.Parent == nil || c.Parent.Why != skein.Child:
			continue
		}
		err := x.tree(ctx, c.ID)
		if c.Messages == 0 && errors.Is(err, skein.ErrInvalid) {
			x.now.lost = append(x.now.lost, id)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *exporter) one(ctx context.Context, sess skein.Session) error {
	x.now.turn[sess.ID] = len(x.now.turn)
	if o := sess.Origin; o != nil && x.files[o.Path] { // it is in its parent's file
		x.spots[sess.ID] = interop.Spot{ID: o.ID}
		return nil
	}
	p, err := importer.Provenance(ctx, x.store, x.format.Name, sess)
	if err != nil {
		return err
	}
	if p.Found && !p.WentOn && x.o.Cwd == "" && !x.anew[sess.ID] && x.seen(sess, p.File) {
		return x.exact(ctx, sess, p)
	}
	if x.format.Write == nil {
		return fmt.Errorf("%w: format %s can only be read", skein.ErrInvalid, x.format.Name)
	}
	d, err := x.draft(ctx, sess)
	if err != nil {
		return err
	}
	w, err := x.write(ctx, d)
	if err != nil {
		return err
	}
	if p := sess.Parent; p != nil && p.Why == skein.Fork && !slices.ContainsFunc(d.Events, func(e skein.Event) bool { return e.Seq > sess.Base && reconcile.Talks(e.Kind) }) {
		w.Losses.Add(sess.Base+1, "that it is a fork without messages of its own: without the side file it is read as a copy of its parent")
	}
	if len(w.Texts) == 0 {
		return fmt.Errorf("%w: nothing in it can be written as %s", skein.ErrInvalid, x.format.Name)
	}
	reach(&w.Texts[0], d.Events)
	x.spots[sess.ID] = interop.Spot{ID: w.ID, Path: w.Texts[0].Path, Name: w.Texts[0].Name}
	var above interop.Spot
	if sess.Parent.IsFork() {
		above, _ = d.Other(sess.Parent.Session)
	}
	return x.place(ctx, inBatch{sess: sess, events: gists(d.Events), wrote: w, above: above, of: x.now}, p)
}

// write makes the texts of a session. A child that was written to this home by itself, before
// its parent, stays where it is, also if children usually are elsewhere.
func (x *exporter) write(ctx context.Context, d interop.Draft) (interop.Written, error) {
	if p := d.Session.Parent; p != nil && p.Why == skein.Child {
		with, alone := d, d
		with.Memo, alone.Memo = nil, nil // nothing of these is put, so nothing that follows may rely on it
		alone.Other = func(skein.SessionID) (interop.Spot, bool) { return interop.Spot{}, false }
		if was, err := x.format.Write(ctx, alone); err == nil && x.stands(ctx, d.Session.ID, was) {
			is, err := x.format.Write(ctx, with)
			if err == nil && len(is.Texts) > 0 && (is.Texts[0].Path != was.Texts[0].Path || is.Texts[0].Name != was.Texts[0].Name) {
				d.Other = alone.Other
			}
		}
	}
	return x.format.Write(ctx, d)
}

// draft gathers the input of a format's Write.
func (x *exporter) draft(ctx context.Context, sess skein.Session) (interop.Draft, error) {
	if x.o.Cwd != "" {
		sess.Cwd, sess.Project = x.o.Cwd, x.o.Cwd
	}
	if t := (skein.Titled{Title: sess.Title, By: sess.TitleBy}); sess.Origin != nil && t.Wrapped() {
		sess.Title = ""
	}
	d := interop.Draft{Session: sess, Home: x.home, Places: x.o.Places, Now: x.o.Now, Other: x.other(ctx, sess), Memo: x.memo}
	owner, err := x.owner(ctx, sess)
	if err != nil {
		return d, err
	}
	d.Owner = owner
	d.Beside = func(rel string) ([]byte, bool) { return disk.Beside(filepath.Join(x.home, "x"), rel) }
	d.Dir = sess.Cwd
	if d.Dir == "" {
		d.Dir = sess.Project
	}
	if dir, err := filepath.EvalSymlinks(d.Dir); err == nil && filepath.IsAbs(d.Dir) {
		d.Dir = dir
	}
	d.Blob = func(h skein.Hash) ([]byte, error) { return x.store.Blob(ctx, sess.ID, h) }
	for e, err := range x.store.Events(ctx, sess.ID, 0) {
		if err != nil {
			return d, err
		}
		d.Append(untitled(e))
	}
	return d, nil
}

// owner returns Draft.Owner for a session.
func (x *exporter) owner(ctx context.Context, sess skein.Session) (func(skein.Seq) skein.SessionID, error) {
	type span struct {
		above skein.Seq
		of    skein.SessionID
	}
	all := []span{{sess.Base, sess.ID}}
	for sess.Parent.IsFork() && sess.Base > 0 {
		next, err := x.store.Session(ctx, sess.Parent.Session)
		if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrDeleted) {
			break
		}
		if err != nil {
			return nil, err
		}
		sess = next
		all = append(all, span{sess.Base, sess.ID})
	}
	return func(seq skein.Seq) skein.SessionID {
		i := slices.IndexFunc(all, func(s span) bool { return seq > s.above })
		if i < 0 {
			i = len(all) - 1
		}
		return all[i].of
	}, nil
}

// untitled returns e without a title that is text wrapped by an agent's program: no
// other program is to see it.
func untitled(e skein.Event) skein.Event {
	switch e.Kind {
	case skein.KindTitled:
		if t, err := skein.Decode[skein.Titled](e); err == nil && t.Wrapped() {
			e.Kind, e.Payload = skein.KindChanged, skein.MustJSON(skein.Changed{})
		}
	case skein.KindCreated:
		if c, err := skein.Decode[skein.Created](e); err == nil && c.Wrapped() {
			c.Title = ""
			e.Payload = skein.MustJSON(c)
		}
	}
	return e
}

// other returns where other sessions are: where they were just written, or the source
// that they were read from, if it is in the same home. The source that sess now
// continues no longer counts as another session's.
func (x *exporter) other(ctx context.Context, sess skein.Session) func(skein.SessionID) (interop.Spot, bool) {
	return func(id skein.SessionID) (interop.Spot, bool) {
		if spot, ok := x.spots[id]; ok {
			return spot, true
		}
		s, err := x.store.Session(ctx, id)
		if err != nil || s.Origin == nil || s.Origin.Format != x.format.Name {
			if p := sess.Parent; err == nil && p != nil && p.Session == id {
				return x.ancestor(ctx, s)
			}
			return interop.Spot{}, false
		}
		if o := sess.Origin; o != nil && id != sess.ID && o.Format == s.Origin.Format && o.Path == s.Origin.Path {
			return interop.Spot{}, false
		}
		unit, name := records.SplitPath(&x.format, s.Origin.Path)
		below, home := homeOf(&x.format, unit)
		if real, err := filepath.EvalSymlinks(x.home); err != nil || real != home {
			return interop.Spot{}, false
		}
		return interop.Spot{ID: s.Origin.ID, Path: below, Name: name}, true
	}
}
