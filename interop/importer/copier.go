package importer

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/interop/reconcile"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/store/lenient"
)

// A copier finds what a file repeats, as long as it only repeats other files.
type copier struct {
	outlet
	w          *records.FileJob
	file       *skein.SourceFile              // of the target
	places     map[skein.ClientID]skein.Place // where the events of the records up to ahead are
	ahead      int
	window     int
	follow     follower
	n          int                           // copies
	last       skein.Place                   // of the last one
	furthest   map[skein.SessionID]skein.Seq // the last event that is shared with each session
	line       skein.SessionID               // shows all of the conversation that was repeated so far; "" if none was
	far        skein.Place                   // the last event of that
	lineOf     skein.SessionID               // whose events are in seqs
	seqs       map[skein.ClientID]skein.Seq
	held       []heldBack
	bytes      int // of held
	duplicates duplicates
	began      skein.Time               // when the file's first record before the conversation was written; 0 if it does not say
	judged     map[skein.SessionID]bool // sessions whose age was compared with this one's
}

// heldBack is a floating record that waits for the session.
type heldBack struct {
	rec     skein.Record
	line    int
	items   []interop.Item
	indexes []int // of the items' ordinals
}

// At most this much is held back; more makes a session of the file.
const (
	maxHeldBytes   = 4 << 20
	maxHeldRecords = 2000
)

func newCopier(o outlet, w *records.FileJob, file *skein.SourceFile) *copier {
	return &copier{
		outlet: o, w: w, file: file, window: 4, follow: follower{store: o.store}, furthest: map[skein.SessionID]skein.Seq{},
		duplicates: duplicates{store: o.store, known: o.known}, judged: map[skein.SessionID]bool{},
	}
}

// lookAhead asks the store where the events of the next records are. It asks for few
// at first: most files are not copies, as their first record shows.
func (c *copier) lookAhead(ctx context.Context, rs []records.ReadRecord) error {
	if rs[0].Rec.N < c.ahead {
		return nil
	}
	rs = rs[:min(c.window, len(rs))]
	c.window, c.ahead = min(2*c.window, 256), rs[len(rs)-1].Rec.N+1
	var keys []skein.ClientID
	for _, r := range rs {
		if len(r.Made.Items) > 0 {
			keys = append(keys, reconcile.Candidates(r.Made.Key)...)
			if r.Made.CopyKey != "" {
				keys = append(keys, reconcile.Candidates(r.Made.CopyKey)...)
			}
		}
	}
	c.places = map[skein.ClientID]skein.Place{}
	return c.find(ctx, keys)
}

// find asks the store where the events with these client IDs are.
func (c *copier) find(ctx context.Context, ids []skein.ClientID) error {
	if len(ids) == 0 {
		return nil
	}
	places, err := skein.SourcesOf(c.store).Find(ctx, ids)
	maps.Copy(c.places, places)
	return err
}

// copyOf returns the key under which the events of a record are stored already, and
// where they are; no places if it is not a copy.
func (c *copier) copyOf(ctx context.Context, own skein.ClientID, r records.ReadRecord) (key skein.ClientID, places []skein.Place, err error) {
	if c.began == 0 && c.line == "" {
		c.began = noted(r.Made.Items)
	}
	if own != r.Made.Key && c.places != nil { // the file has the key twice
		if err := c.find(ctx, reconcile.Candidates(own)); err != nil {
			return own, nil, err
		}
	}
	for _, key = range []skein.ClientID{r.Made.CopyKey, own} {
		if key == "" {
			continue
		}
		if places, err = c.match(ctx, key, r.Made.Items); places != nil || err != nil {
			break
		}
	}
	if places != nil {
		err = c.checkOriginal(ctx, r, places)
	}
	return key, places, err
}

// noted returns the time of the first of a file's own items that has one and is no step
// of the conversation, or 0.
func noted(items []interop.Item) skein.Time {
	for _, it := range items {
		if it.Session == "" && it.Event.Time != 0 && !reconcile.Talks(it.Event.Kind) {
			return it.Event.Time
		}
	}
	return 0
}

// holds reports whether a record waits for the session; then it makes no events yet.
func (c *copier) holds(r records.ReadRecord) bool {
	return r.Made.Floating && c.bytes < maxHeldBytes && len(c.held) < maxHeldRecords
}

// hold holds back a record whose items have these ordinals.
func (c *copier) hold(rec skein.Record, line int, items []interop.Item, ordinals []int) {
	c.held = append(c.held, heldBack{rec, line, items, ordinals})
	c.bytes += len(rec.Raw)
}

// shares notes that the file repeats the event at p, up to which it may repeat more
// events of that session.
func (c *copier) shares(p skein.Place, upto skein.Seq) {
	c.last = p
	c.furthest[p.Session] = max(c.furthest[p.Session], upto)
}

// match returns where the items of a record are stored already, and nil if it is
// not a copy, or if no session shows them after all that was repeated so far: a fork
// would lack one or the other.
func (c *copier) match(ctx context.Context, key skein.ClientID, items []interop.Item) ([]skein.Place, error) {
	var at []skein.Place
	for _, id := range reconcile.Candidates(key) {
		if p, ok := c.places[id]; ok {
			here, err := c.inLine(ctx, id, p)
			if err != nil {
				return nil, err
			}
			at = append(at, here)
		}
	}
	events := make([]skein.Event, len(items))
	for i, it := range items {
		events[i] = it.Event
	}
	places, err := reconcile.SameAs(events, at, func(p skein.Place) (skein.Event, error) { return c.follow.event(ctx, p) })
	if places == nil || err != nil {
		return nil, err
	}
	for i, it := range items {
		if it.Session != "" {
			continue
		}
		if goesOn, err := c.goesOn(ctx, it.Event.Kind, places[i]); !goesOn || err != nil {
			return nil, err
		}
	}
	return places, nil
}

// inLine returns where the session with what was repeated so far shows an event with
// this client ID; p, where it was stored first, if it does not.
func (c *copier) inLine(ctx context.Context, id skein.ClientID, p skein.Place) (skein.Place, error) {
	if c.line == "" {
		return p, nil
	}
	if has, err := c.shows(ctx, c.line, p); has || err != nil {
		return p, err
	}
	if c.lineOf != c.line {
		c.lineOf, c.seqs = c.line, map[skein.ClientID]skein.Seq{}
		for e, err := range lenient.Store(c.store, nil).Events(ctx, c.line, 0) {
			if err != nil {
				return p, err
			}
			c.seqs[e.ClientID] = e.Seq
		}
	}
	if seq := c.seqs[id]; seq != 0 {
		return skein.Place{Session: c.line, Seq: seq}, nil
	}
	return p, nil
}

// goesOn reports whether one session shows the event of this kind at p and all of the
// conversation that was repeated so far. Before the conversation, what is no step of it
// may be in any session.
func (c *copier) goesOn(ctx context.Context, kind skein.Kind, p skein.Place) (bool, error) {
	if c.line == "" {
		if reconcile.Talks(kind) {
			c.line, c.far = p.Session, p
			clear(c.furthest)
		}
		return true, nil
	}
	if has, err := c.shows(ctx, c.line, p); has || err != nil {
		if p.Seq > c.far.Seq {
			c.far = p
		}
		return has, err
	}
	has, err := c.shows(ctx, p.Session, c.far)
	if has {
		c.line, c.far = p.Session, p
	}
	return has, err
}

// fork returns the parent of a file that was a copy so far: the session that shows
// all that was copied, if there is one, up to the last event that is shared. rewind
// is where the copy itself ends, if that is earlier; else 0.
func (c *copier) fork(ctx context.Context) (p *skein.Parent, rewind skein.Seq, err error) {
	p = &skein.Parent{Session: c.last.Session, Seq: c.furthest[c.last.Session], Why: skein.Fork}
	for id, seq := range c.furthest {
		if id == p.Session || seq < c.last.Seq {
			continue
		}
		shows, err := c.shows(ctx, id, c.last)
		if err != nil {
			return nil, 0, err
		}
		if shows && seq > p.Seq {
			p.Session, p.Seq = id, seq
		}
	}
	if c.last.Seq < p.Seq {
		rewind = c.last.Seq
	}
	return p, rewind, nil
}

// shows reports whether session id shows the event at p: its own, or as a fork.
func (c *copier) shows(ctx context.Context, id skein.SessionID, p skein.Place) (bool, error) {
	if id == p.Session {
		return true, nil
	}
	for range 100 {
		s, err := c.store.Session(ctx, id)
		if err != nil || s.Base < p.Seq || s.Parent == nil {
			return false, err
		}
		if id = s.Parent.Session; id == p.Session {
			return true, nil
		}
	}
	return false, nil
}

// A follower reads single events of the store, cheaply if each comes soon after
// the one before.
type follower struct {
	store skein.Store
	id    skein.SessionID
	got   skein.Event
	next  func() (skein.Event, error, bool)
	stop  func()
}

// near is how many events are skipped by reading rather than by a new query.
const near = 64

// event returns the event at p.
func (f *follower) event(ctx context.Context, p skein.Place) (skein.Event, error) {
	if f.next == nil || f.id != p.Session || p.Seq < f.got.Seq || p.Seq > f.got.Seq+near {
		f.close()
		f.id, f.got = p.Session, skein.Event{}
		f.next, f.stop = iter.Pull2(f.store.Events(ctx, p.Session, p.Seq-1))
	}
	for f.got.Seq < p.Seq {
		e, err, ok := f.next()
		if err != nil {
			return skein.Event{}, err
		}
		if !ok {
			return skein.Event{}, nil
		}
		f.got = e
	}
	return f.got, nil
}

func (f *follower) close() {
	if f.stop != nil {
		f.stop()
	}
	f.next, f.stop = nil, nil
}

// duplicates are the files of the same session that were read before from another
// place and have had the same records so far, byte for byte. A file with a duplicate is
// a copy, even if its events do not show it: they may have been amended, be stored
// under other keys, or depend on where the file is.
type duplicates struct {
	store skein.Store
	known *discover.KnownFiles
	begun bool                 // they were looked for
	first []records.RecordHash // the records until then
	all   []*duplicate
}

// A duplicate is one such file.
type duplicate struct {
	file     skein.SourceFile
	ahead    []skein.Record // the next ones
	next     int            // the number of the record after these
	seqs     map[skein.ClientID]skein.Seq
	amended  map[skein.Seq]skein.Seq    // the last amendment of each event
	steps    []skein.Seq                // the events that are not amendments, in order
	sessions map[string]skein.SessionID // as in state
}

// maxFirst is how many records may come before one that names the file's session.
const maxFirst = 1000

// match returns the duplicate that has this record too, and the record as it is
// in that one; nil if no duplicate has it.
func (ts *duplicates) match(ctx context.Context, file skein.SourceFile, r records.ReadRecord) (tw *duplicate, was skein.Record, err error) {
	if !ts.begun && file.ID == "" {
		if len(r.Made.Items) > 0 || len(ts.first) == maxFirst {
			ts.begun = true // it has no ID: there is nothing to look for
		} else {
			ts.first = append(ts.first, records.HashRecord(r.Rec.Raw))
		}
		return nil, was, nil
	}
	if !ts.begun {
		if err := ts.begin(ctx, file); err != nil {
			return nil, was, err
		}
	}
	var left []*duplicate
	for _, w := range ts.all {
		rec, ok, err := w.record(ctx, ts.store, r.Rec.N)
		switch {
		case err != nil:
			return nil, was, err
		case !ok || !bytes.Equal(bytes.TrimSuffix(rec.Raw, lineFeed), bytes.TrimSuffix(r.Rec.Raw, lineFeed)):
			continue
		case tw == nil:
			tw, was = w, rec
		}
		left = append(left, w)
	}
	ts.all = left
	return tw, was, nil
}

var lineFeed = []byte("\n")

// begin looks for the duplicates.
func (ts *duplicates) begin(ctx context.Context, of skein.SourceFile) error {
	ts.begun = true
	for _, path := range ts.known.PathsOfID(of.Format, of.ID) {
		if path == of.Path {
			continue
		}
		f, err := ts.known.Stored(ctx, of.Format, path)
		if err != nil {
			return err
		}
		if f.Session == "" {
			continue
		}
		tw := &duplicate{file: f, seqs: map[skein.ClientID]skein.Seq{}, amended: map[skein.Seq]skein.Seq{}, sessions: records.DecodeState(f.State).Sessions}
		same, err := tw.begins(ctx, ts.store, ts.first)
		if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrDeleted) {
			continue
		}
		if err != nil {
			return err
		}
		if same {
			ts.all = append(ts.all, tw)
		}
	}
	ts.first = nil
	return nil
}

// begins reports whether the file begins with these records, and if so reads
// where the events of its session are.
func (tw *duplicate) begins(ctx context.Context, s skein.Store, with []records.RecordHash) (bool, error) {
	for n, h := range with {
		rec, ok, err := tw.record(ctx, s, n)
		if err != nil || !ok || records.HashRecord(rec.Raw) != h {
			return false, err
		}
	}
	for e, err := range lenient.Store(s, nil).Events(ctx, tw.file.Session, 0) {
		if err != nil {
			return false, err
		}
		if e.ClientID != "" {
			tw.seqs[e.ClientID] = e.Seq
		}
		if e.Kind != skein.KindAmended {
			tw.steps = append(tw.steps, e.Seq)
		} else if a, err := skein.Decode[skein.Amended](e); err == nil {
			tw.amended[a.Seq] = e.Seq
		}
	}
	return true, nil
}

// record returns record n, if there is one; n goes up one by one.
func (tw *duplicate) record(ctx context.Context, s skein.Store, n int) (rec skein.Record, ok bool, err error) {
	if len(tw.ahead) == 0 && n == tw.next {
		size := 0
		for r, err := range skein.SourcesOf(s).Records(ctx, tw.file.Format, tw.file.Path, n) {
			if err != nil {
				return rec, false, err
			}
			tw.ahead = append(tw.ahead, r)
			tw.next = r.N + 1
			if size += len(r.Raw); size > records.ChunkBytes || len(tw.ahead) >= records.ChunkRecords {
				break
			}
		}
	}
	if len(tw.ahead) == 0 || tw.ahead[0].N != n {
		return rec, false, nil
	}
	rec, tw.ahead = tw.ahead[0], tw.ahead[1:]
	return rec, true, nil
}

// end returns far if only amendments come after seq up to there, so that what ends
// at seq may end there: otherwise they would not be in force. If anything else comes
// in between, it returns seq.
func (tw *duplicate) end(seq, far skein.Seq) skein.Seq {
	i, _ := slices.BinarySearch(tw.steps, seq+1)
	if i < len(tw.steps) && tw.steps[i] <= far {
		return seq
	}
	return far
}
