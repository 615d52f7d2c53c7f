package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/recording"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/store/lenient"
)

// What an editor and an agent say to each other may be recorded, and stands in the
// agent's own file too. That file belongs to the recorded session: what it says of
// recorded turns makes no events, but for the tokens that the agent did not tell the
// editor, and what the agent did elsewhere continues the session.

// A tapedSession is what was recorded of the conversation in a source.
type tapedSession struct {
	turns  []tapedTurn
	turn   int                    // the one whose records come; -1 if that is not known
	last   skein.Seq              // of the events that were looked at
	prefix bool                   // every prompt of the source so far was that of the next turn
	counts map[string]skein.Usage // what the records of the turn say that each request spent
	echoes records.EchoBuilder    // of the records of recorded turns
	echoed skein.Seq              // the last event that these cover
}

// A tapedTurn is what was recorded from a prompt to the answer to it.
type tapedTurn struct {
	prompt      string
	from, to    skein.Time // its first and last event
	first, last skein.Seq  // likewise
	end         *skein.Step
	told        bool // the agent told the editor what the turn spent
	costs       bool // and what it cost, or only that
}

// early is how much earlier than its recording a prompt may seem to be, in milliseconds:
// programs round times.
const early skein.Time = 1000

// usageIDs begins the client IDs of the events that say what a recorded turn spent.
const usageIDs = recording.ClientIDs + "usage-"

// longestOpening is how long an agent may take to open a session, in milliseconds, before
// files that it writes meanwhile are read.
const longestOpening skein.Time = 60_000

// findTaped looks for a recording of the source's conversation, once its ID is known. A
// source that was not read before becomes one of the recorded session.
//
// The error is errTaken if it may soon be known to be one; else it is the store's.
func (t *Target) findTaped(ctx context.Context) error {
	if t.sought || t.file.ID == "" {
		return nil
	}
	t.sought = true
	id, err := recordingOf(ctx, t.store, t.file.ID)
	if err == nil && id == "" && !t.main.begun {
		return t.mayBeOpening(ctx)
	}
	if err != nil || id == "" || t.main.begun && t.main.id != id || t.copies != nil && t.copies.n > 0 {
		return err
	}
	known := t.Job.State.Echoes.Last()
	x := &tapedSession{turn: -1, prefix: !t.main.begun, echoes: t.Job.State.Echoes.Builder(), echoed: known}
	if t.main.begun && !t.Job.State.Rewriting {
		x.last = max(0, known-1)
		if s := t.Job.State.Spent; len(s) > 0 {
			x.last = max(0, min(x.last, s[0].Turn-1))
		}
	}
	err = x.load(ctx, t.store, id)
	if errors.Is(err, skein.ErrNotFound) || errors.Is(err, skein.ErrDeleted) {
		return nil
	}
	if err != nil {
		return err
	}
	for i := range x.turns {
		if !t.Job.State.Rewriting && x.turns[i].first <= known {
			x.turn = i
		}
	}
	if t.taped = x; t.main.begun {
		return nil
	}
	if t.copies != nil {
		t.copies.follow.close()
		t.copies = nil
	}
	t.main.id, t.main.begun, t.main.shared = id, true, true
	t.file.Session, t.file.CopyOf = id, ""
	return nil
}

// load reads what was recorded in a session after x.last.
//
// The error wraps [skein.ErrNotFound] or [skein.ErrDeleted]; else it is the store's.
func (x *tapedSession) load(ctx context.Context, s skein.Store, id skein.SessionID) error {
	sess, err := s.Session(ctx, id)
	if err != nil {
		return err
	}
	for e, err := range lenient.Store(s, nil).Events(ctx, id, x.last) {
		if err != nil {
			return err
		}
		if x.last = e.Seq; !strings.HasPrefix(string(e.ClientID), recording.ClientIDs) {
			continue
		}
		x.add(&e)
	}
	if n := len(x.turns); n > 0 && x.turns[n-1].end == nil && sess.LockedBy != "" { // it goes on
		x.turns[n-1].to = math.MaxInt64
	}
	return nil
}

// add adds an event of the recorder, or one that says what a turn spent. It ignores those
// that cannot be read.
func (x *tapedSession) add(e *skein.Event) {
	switch e.Kind {
	case skein.KindSaid:
		if m, err := skein.Decode[skein.Message](*e); err == nil && m.Typed() {
			x.turns = append(x.turns, tapedTurn{prompt: m.Prompt(), from: e.Time, to: e.Time, first: e.Seq, last: e.Seq})
			return
		}
	case skein.KindStep:
		if step, err := skein.Decode[skein.Step](*e); err == nil {
			x.end(e, &step)
		}
		return
	}
	if n := len(x.turns); n > 0 && x.turns[n-1].end == nil {
		x.turns[n-1].to = max(x.turns[n-1].to, e.Time)
	}
}

// end adds the end of the last turn, or what one spent.
func (x *tapedSession) end(e *skein.Event, step *skein.Step) {
	if strings.HasPrefix(string(e.ClientID), usageIDs) {
		if i := slices.IndexFunc(x.turns, func(y tapedTurn) bool { return requestOf(&y) == step.Request }); i >= 0 {
			x.turns[i].end = step
		}
		return
	}
	if n := len(x.turns); n == 0 || x.turns[n-1].end != nil { // its prompt was read before
		x.turns = append(x.turns, tapedTurn{from: e.Time, first: e.Seq})
	}
	y := &x.turns[len(x.turns)-1]
	y.to, y.last, y.end = e.Time, e.Seq, step
	y.told = step.Usage != nil && step.Usage.Tokens() > 0
	y.costs = step.Usage != nil && step.Usage.Reported > 0
}

// requestOf returns the request that a turn counts as.
func requestOf(y *tapedTurn) string {
	if y.end != nil && y.end.Request != "" {
		return y.end.Request
	}
	return fmt.Sprint(usageIDs, y.first)
}

// followTurns finds out whether a record begins a turn, and whether that was recorded.
//
// The error is the store's.
func (t *Target) followTurns(ctx context.Context, items []interop.Item) error {
	if t.taped == nil {
		return nil
	}
	for i := range items {
		e := &items[i].Event
		if items[i].Session != "" || e.Kind != skein.KindSaid {
			continue
		}
		m, err := skein.Decode[skein.Message](*e)
		if err != nil || !m.Typed() {
			continue
		}
		was, prompt := t.taped.turn, m.Prompt()
		is := t.taped.turnOf(prompt, e.Time)
		if !is { // it may have been recorded since
			if err := t.taped.load(ctx, t.store, t.main.id); err != nil {
				return err
			}
			is = t.taped.turnOf(prompt, e.Time)
		}
		if t.Job.State.Elsewhere = !is; was != t.taped.turn {
			t.taped.counts = nil
		}
		t.taped.prefix = t.taped.prefix && is
	}
	return nil
}

// turnOf makes the turn that began with a prompt the current one. It reports whether
// there is one: the agent got the prompt while it was recorded, or, as its file says no
// time or copies an older file, the prompt is that of the next turn.
func (x *tapedSession) turnOf(prompt string, at skein.Time) bool {
	for i := max(x.turn, 0); i < len(x.turns); i++ {
		y := &x.turns[i]
		during := at != 0 && y.from-early <= at && at <= y.to
		same := i > x.turn && y.prompt == prompt
		if during || same && (at == 0 || y.end == nil && y.from-early <= at || x.prefix && i == x.turn+1) {
			x.turn = i
			return true
		}
	}
	return false
}

// isTaped takes a record of a turn that was recorded: it makes no events, but its items
// get their ordinals.
func (t *Target) isTaped(r records.ReadRecord, key skein.ClientID) bool {
	items := r.Made.Items
	if t.taped == nil || t.Job.State.Elsewhere || len(items) == 0 || r.Rec.N < t.Job.Old {
		return false
	}
	onlyHere := func(it interop.Item) bool { return it.Session != "" } // what its sub-agents did
	isTitle := func(it interop.Item) bool { return it.Event.Kind == skein.KindTitled }
	if slices.ContainsFunc(items, onlyHere) || !slices.ContainsFunc(items, func(it interop.Item) bool { return !isTitle(it) }) {
		return false
	}
	seq := max(1, t.taped.echoed)
	if at := t.taped.turn; at >= 0 {
		seq = t.taped.turns[at].last
		t.takeSpent(items)
	}
	t.taped.echoes.Add(records.HashRecord(r.Rec.Raw), seq)
	t.taped.echoed = max(t.taped.echoed, seq)
	t.Job.State.Echoes = t.taped.echoes.List
	t.number(key, items, func(int) skein.Seq { return seq })
	return true
}

// takeSpent takes what the items say was spent on the current turn, if the agent did not
// tell the editor.
func (t *Target) takeSpent(items []interop.Item) {
	y := &t.taped.turns[t.taped.turn]
	if y.told || t.Job.State.Rewriting && y.end != nil && y.end.Usage != nil {
		return
	}
	for _, it := range items {
		step, err := skein.Decode[skein.Step](it.Event)
		if it.Event.Kind != skein.KindStep || err != nil || step.Usage == nil {
			continue
		}
		more := *step.Usage
		if step.Request != "" { // it is counted once
			if t.taped.counts == nil {
				t.taped.counts = map[string]skein.Usage{}
			}
			more = more.Minus(t.taped.counts[step.Request])
			t.taped.counts[step.Request] = *step.Usage
		}
		spent := t.Job.State.Spent
		if n := len(spent); n == 0 || spent[n-1].Turn != y.first {
			spent = append(spent, records.SpentOnTurn{Turn: y.first})
		}
		s := &spent[len(spent)-1]
		s.Usage = s.Usage.Plus(more)
		s.Provider, s.Model = cmp.Or(step.Provider, s.Provider), cmp.Or(step.Model, s.Model)
		t.Job.State.Spent = spent
	}
}

// queueSpent queues what the records say was spent on recorded turns. It reports whether
// that waits, because the recorder has the session.
//
// The error is the store's.
func (t *Target) queueSpent(ctx context.Context) (waits bool, err error) {
	if t.taped == nil || len(t.Job.State.Spent) == 0 {
		return len(t.Job.State.Spent) > 0, nil
	}
	sess, err := t.store.Session(ctx, t.main.id)
	if err != nil || sess.LockedBy != "" {
		return true, err
	}
	if err := t.taped.load(ctx, t.store, t.main.id); err != nil {
		return true, err
	}
	for _, s := range t.Job.State.Spent {
		i := slices.IndexFunc(t.taped.turns, func(y tapedTurn) bool { return y.first == s.Turn })
		if i < 0 || t.taped.turns[i].told {
			continue
		}
		y := &t.taped.turns[i]
		step := skein.Step{Phase: "finish", Several: true}
		if y.end != nil {
			step = *y.end
		}
		if y.costs {
			s.Usage.Reported = 0
		}
		if step.Request = requestOf(y); step.Usage != nil {
			s.Usage = s.Usage.Plus(*step.Usage)
		}
		step.Usage, step.Provider, step.Model = &s.Usage, cmp.Or(step.Provider, s.Provider), cmp.Or(step.Model, s.Model)
		y.end = &step
		e := skein.NewEvent(skein.KindStep, y.to, step)
		e.ClientID = skein.ClientID(fmt.Sprint(usageIDs, y.first, "-", t.file.Records))
		t.main.events = append(t.main.events, waiting{e, -1, nowhere})
	}
	t.Job.State.Spent = nil
	return false, nil
}

// mayBeOpening returns errTaken if some agent is opening a session, of which this may be
// the file. Else the error is the store's.
func (t *Target) mayBeOpening(ctx context.Context) error {
	for f, err := range skein.SourcesOf(t.store).Files(ctx, recording.Format) {
		if err != nil {
			return err
		}
		since, is := recording.IsOpening(&f)
		if !is {
			break
		}
		if age := skein.At(time.Now()) - since; since == 0 || age > longestOpening || age < -longestOpening {
			continue
		}
		if s, err := t.store.Session(ctx, f.Session); err == nil && s.LockedBy != "" {
			return errTaken
		}
	}
	return nil
}

// recordingOf returns the session in which what an agent calls inner was recorded; "" if
// it was not. The error is the store's.
func recordingOf(ctx context.Context, s skein.Store, inner string) (skein.SessionID, error) {
	f, err := skein.SourcesOf(s).File(ctx, recording.Format, recording.Path(inner))
	if errors.Is(err, skein.ErrNotFound) {
		return "", nil
	}
	return f.Session, err
}
