package transcript

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/edits"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
)

// A SessionOutline says what happened in a session, and where.
type SessionOutline struct {
	PageView
	Turns  []OutlineTurn
	Costly []OutlineTurn // the most expensive ones, if there are many turns
	Errors []OutlineSpot
	Slow   []OutlineSpot // the calls that took longest
	Tools  []OutlineTool // most calls first
	Files  []OutlineFile // in the order of their first change
	Failed int           // errors; Errors has the first ones
}

// An OutlineTurn is a turn in an outline.
type OutlineTurn struct {
	N         int
	Seq       skein.Seq // of its first message
	Words     string    // the first of its prompt
	Time      skein.Time
	Took      string
	Cost      string
	Share     int // of the most expensive turn's cost, in percent
	Calls     int
	Errors    int
	Compacted bool            // the context was compacted in it
	Forks     []skein.Session // that begin in it

	cost        price.NanoUSD
	first, last skein.Time
}

// An OutlineSpot is a message in an outline.
type OutlineSpot struct {
	Seq  skein.Seq
	Text string
	Took string

	span skein.Time // how long, in milliseconds
}

// An OutlineTool is a tool in an outline.
type OutlineTool struct {
	Name          string
	Calls, Failed int
}

// An OutlineFile is a file that the session changed.
type OutlineFile struct {
	Path           string
	Seq            skein.Seq // of the first change
	Changes        int
	Added, Removed int // lines
}

const (
	maxErrors  = 30 // that an outline names
	maxSlow    = 5
	maxCostly  = 5
	manyTurns  = 12 // from so many on, the most expensive ones are named
	slowEnough = 5000
)

// outliner makes an outline.
type outliner struct {
	*transcriber
	out   SessionOutline
	turn  *OutlineTurn
	calls map[string]outlineCall
	tools map[string]*OutlineTool
	files map[string]int
	used  map[string]skein.Usage // by request
	// states are what events say of calls, by their IDs.
	states map[string]skein.ToolState
}

// outlineCall is a call without a result so far.
type outlineCall struct {
	seq   skein.Seq
	at    skein.Time
	name  string
	gist  string
	edits []edits.Edit
}

// Outline makes the outline of v's session; forks are the sessions that begin with a part
// of it. The error is that of the store or of the prices.
func (m *Maker) Outline(ctx context.Context, store skein.Store, v PageView, forks []skein.Session) (*SessionOutline, error) {
	o := &outliner{
		transcriber: newTranscriber(m, v), out: SessionOutline{PageView: v},
		calls: map[string]outlineCall{}, tools: map[string]*OutlineTool{}, files: map[string]int{}, used: map[string]skein.Usage{}, states: map[string]skein.ToolState{},
	}
	if m.prices != nil {
		var err error
		if o.list, err = m.prices(); err != nil {
			return nil, err
		}
	}
	w, err := Whole(ctx, store, v.Session.ID)
	if err == nil {
		w, err = w.current()
	}
	if err != nil {
		return nil, err
	}
	var compacted []skein.Seq
	for _, e := range w.Events {
		switch e.Kind {
		case skein.KindCompacted:
			compacted = append(compacted, e.Seq)
		case skein.KindTool:
			if state, err := skein.Decode[skein.ToolState](e); err == nil {
				o.states[state.Call] = merged(o.states[state.Call], state)
			}
		}
	}
	for i := range w.Entries {
		for len(compacted) > 0 && compacted[0] < w.Entries[i].Seq {
			if compacted = compacted[1:]; o.turn != nil {
				o.turn.Compacted = true
			}
		}
		o.add(&w.Entries[i])
	}
	if o.turn != nil && len(compacted) > 0 {
		o.turn.Compacted = true
	}
	o.finish(forks)
	return &o.out, nil
}

// add adds a message.
func (o *outliner) add(e *skein.Entry) {
	m := &e.Message
	if o.turn == nil || e.Turn != o.turn.N {
		o.out.Turns = append(o.out.Turns, OutlineTurn{N: e.Turn, Seq: e.Seq, Time: e.Time, first: e.Time})
		o.turn = &o.out.Turns[len(o.out.Turns)-1]
	}
	if m.Typed() && o.turn.Words == "" {
		o.turn.Words, o.turn.Seq = render.Clip(o.masks(render.Line(m.Prompt())), 120), e.Seq
	}
	o.turn.last = max(o.turn.last, e.Time)
	o.charge(e)
	if m.Error != nil {
		o.fails(e.Seq, render.ErrorLine(m.Error))
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Call != nil:
			o.called(e, p.Call)
		case p.Result != nil:
			o.answered(e, p.Result)
		}
	}
}

// masks masks the secrets in a text, unless they are shown.
func (t *transcriber) masks(text string) string {
	if t.Raw || t.secrets == nil {
		return text
	}
	return t.secrets.Text(text)
}

func (o *outliner) charge(e *skein.Entry) {
	if e.Message.Usage == nil {
		return
	}
	u, all := *e.Message.Usage, *e.Message.Usage
	if r := e.Message.Request; r != "" {
		was := o.used[r]
		all = was.Merge(u)
		o.used[r] = all
		u = all.Minus(was)
	}
	cost, _ := o.cost(e, u, all)
	o.turn.cost += cost
}

func (o *outliner) fails(seq skein.Seq, text string) {
	o.turn.Errors++
	if o.out.Failed++; len(o.out.Errors) < maxErrors {
		o.out.Errors = append(o.out.Errors, OutlineSpot{Seq: seq, Text: render.Clip(o.masks(text), 120)})
	}
}

func (o *outliner) called(e *skein.Entry, c *skein.Call) {
	o.turn.Calls++
	name := render.Line(c.Name)
	tool := o.tools[name]
	if tool == nil {
		tool = &OutlineTool{Name: name}
		o.tools[name] = tool
	}
	tool.Calls++
	o.calls[c.ID] = outlineCall{e.Seq, e.Time, name, render.Gist(c.Input), edits.Of(c)}
}

func (o *outliner) answered(e *skein.Entry, r *skein.Result) {
	c, ok := o.calls[r.CallID]
	if !ok {
		return
	}
	delete(o.calls, r.CallID)
	from, to := c.at, e.Time
	if s := o.states[r.CallID]; s.Start > 0 && s.End > 0 {
		from, to = s.Start, s.End
	}
	if long := to - from; from > 0 && long >= slowEnough {
		o.out.Slow = append(o.out.Slow, OutlineSpot{Seq: c.seq, Text: o.masks(c.name + " " + c.gist), Took: took(from, to), span: long})
	}
	if r.Failed || o.states[r.CallID].State == skein.Failed {
		o.tools[c.name].Failed++
		o.fails(c.seq, c.name+": "+skein.FirstWords(render.FailureLine(r)))
		return
	}
	for i := range c.edits {
		o.changed(c.seq, &c.edits[i])
	}
}

func (o *outliner) changed(seq skein.Seq, e *edits.Edit) {
	path := o.masks(o.short(e.Path))
	i, known := o.files[path]
	if !known {
		i = len(o.out.Files)
		o.files[path], o.out.Files = i, append(o.out.Files, OutlineFile{Path: path, Seq: seq})
	}
	f := &o.out.Files[i]
	f.Changes, f.Added, f.Removed = f.Changes+1, f.Added+len(e.Added), f.Removed+len(e.Removed)
}

// finish sorts what was found.
func (o *outliner) finish(forks []skein.Session) {
	out := &o.out
	most := price.NanoUSD(0)
	for i := range out.Turns {
		most = max(most, out.Turns[i].cost)
	}
	for i := range out.Turns {
		t := &out.Turns[i]
		t.Took = took(t.first, t.last)
		if t.cost > 0 {
			t.Cost, t.Share = dollars(t.cost), int(100*t.cost/most)
		}
		end := skein.Seq(0)
		if i+1 < len(out.Turns) {
			end = out.Turns[i+1].Seq
		}
		for _, f := range forks {
			if p := f.Parent; p != nil && p.Seq >= t.Seq && (end == 0 || p.Seq < end) {
				t.Forks = append(t.Forks, f)
			}
		}
	}
	if len(out.Turns) >= manyTurns && most > 0 {
		out.Costly = slices.SortedStableFunc(slices.Values(out.Turns), func(a, b OutlineTurn) int { return cmp.Compare(b.cost, a.cost) })[:maxCostly]
	}
	slices.SortStableFunc(out.Slow, func(a, b OutlineSpot) int { return cmp.Compare(b.span, a.span) })
	out.Slow = out.Slow[:min(len(out.Slow), maxSlow)]
	for _, tool := range slices.SortedFunc(maps.Values(o.tools), func(a, b *OutlineTool) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	}) {
		out.Tools = append(out.Tools, *tool)
	}
}
