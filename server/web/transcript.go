package web

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/door"
)

// transcript is a window of a session as the page shows it.
type transcript struct {
	Session skein.Session
	Items   []item
	Before  skein.Seq // as in window
	After   skein.Seq
	Raw     bool      // secrets are shown
	Rewound bool      // what was taken back is shown
	Hid     bool      // secrets were masked
	Nested  bool      // it is shown inside another session's page
	Write   bool      // the visitor may change the session
	At      skein.Seq // seq that the reader is at; 0 at the beginning
}

// shown is a message or a call, for its template, with its transcript.
type shown struct {
	In      *transcript
	Message *message
	Call    *call
}

// Show returns the data for the template of a message or of a call.
func (t *transcript) Show(what any) shown {
	out := shown{In: t}
	out.Message, _ = what.(*message)
	out.Call, _ = what.(*call)
	return out
}

// Path returns the path of the session's page.
func (t *transcript) Path() string { return sessionPath(t.Session.ID) }

// Link returns the path of another window: key is before, after or at.
func (t *transcript) Link(key string, seq skein.Seq) string {
	return t.Path() + "?" + key + "=" + strconv.FormatInt(int64(seq), 10) + t.More()
}

// Piece returns the path of that window without the page around it.
func (t *transcript) Piece(key string, seq skein.Seq) string {
	nested := ""
	if t.Nested {
		nested = "&nested=1"
	}
	return t.Path() + "/messages?" + key + "=" + strconv.FormatInt(int64(seq), 10) + t.More() + nested
}

// Child returns the path of a child's first messages.
func (t *transcript) Child(id skein.SessionID) string {
	return sessionPath(id) + "/messages?nested=1" + t.More()
}

// Whole returns the path of a message in full.
func (t *transcript) Whole(seq skein.Seq) string {
	return t.Path() + "/messages/" + strconv.FormatInt(int64(seq), 10) + "?" + strings.TrimPrefix(t.More(), "&")
}

// Begin returns the path of the first window.
func (t *transcript) Begin() string {
	return strings.TrimSuffix(t.Path()+"?"+strings.TrimPrefix(t.More(), "&"), "?")
}

// SecretsPath returns the path of the transcript with secrets or, if it shows
// them, without.
func (t *transcript) SecretsPath() string {
	other := *t
	other.Raw = !t.Raw
	return other.here()
}

// RewoundPath returns the path of the transcript with what was taken back or,
// if it shows that, without.
func (t *transcript) RewoundPath() string {
	other := *t
	other.Rewound = !t.Rewound
	return other.here()
}

func (t *transcript) here() string {
	if t.At == 0 {
		return t.Begin()
	}
	return t.Link("at", t.At)
}

// More returns the visitor's settings that differ from the defaults, to be
// added to a path.
func (t *transcript) More() (more string) {
	if t.Raw {
		more += "&raw=1"
	}
	if t.Rewound {
		more += "&rewound=1"
	}
	return more
}

// transcriber makes a transcript of a window.
type transcriber struct {
	*site
	transcript
	ctx      context.Context
	prices   *price.List // nil if there are none
	states   map[string]skein.ToolState
	answers  map[string]*answer
	children map[string]skein.Session // by the call that started them
	whole    bool                     // nothing is cut
	working  bool                     // an agent works on the last turn, on this server
}

// answer is the result of a tool call.
type answer struct {
	result *skein.Result
	part   *skein.Part
	seq    skein.Seq // of the message that it is in
	end    skein.Seq
	time   skein.Time
	taken  bool // shown with its call
}

// transcribe returns a transcriber for w.
func (s *site) transcribe(ctx context.Context, one skein.Session, w window) (*transcriber, error) {
	t := &transcriber{
		site: s, ctx: ctx, states: map[string]skein.ToolState{}, answers: map[string]*answer{}, children: map[string]skein.Session{},
		transcript: transcript{Session: one, Before: w.Before, After: w.After, Write: door.From(ctx).Scope >= door.Write},
	}
	if s.Chat != nil {
		talk, _ := s.Chat.at(one.ID)
		t.working = talk != nil
	}
	if s.Prices != nil {
		var err error
		if t.prices, err = s.Prices(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// build makes the items of w.
func (t *transcriber) build(w window) error {
	if !t.Rewound {
		var err error
		if w, err = w.current(); err != nil {
			return err
		}
	}
	w = t.veil(w)
	if err := t.findChildren(w); err != nil {
		return err
	}
	for _, e := range w.Events {
		if e.Kind == skein.KindTool {
			if state, err := skein.Decode[skein.ToolState](e); err == nil {
				t.states[state.Call] = merged(t.states[state.Call], state)
			}
		}
	}
	for i := range w.Entries {
		t.findAnswers(&w.Entries[i])
	}
	turns := &turnSums{t: t, begun: w.Before > 0}
	events := w.Events
	for i := range w.Entries {
		e := &w.Entries[i]
		if e.Turn != turns.n {
			turns.end()
		}
		for len(events) > 0 && events[0].Seq < e.Seq {
			t.mark(events[0])
			events = events[1:]
		}
		turns.add(e)
		t.entry(e)
		if e.Seq <= t.Session.Base && (i+1 == len(w.Entries) && w.After == 0 || i+1 < len(w.Entries) && w.Entries[i+1].Seq > t.Session.Base) {
			turns.end()
			t.add(item{Mark: &mark{Seq: e.Seq, Class: "fork", Text: "The fork goes on from here. What stands above is of", Session: t.Session.Parent.Session}})
		}
	}
	for _, e := range events {
		t.mark(e)
	}
	if w.After == 0 && !t.working {
		turns.end()
	}
	return nil
}

func (t *transcriber) add(i item) { t.Items = append(t.Items, i) }

// merged returns the state of a call after another event about it.
func merged(was, is skein.ToolState) skein.ToolState {
	if is.Start == 0 {
		is.Start = was.Start
	}
	if is.Title == "" {
		is.Title = was.Title
	}
	if is.Child == "" {
		is.Child = was.Child
	}
	return is
}

// maxChildren bounds the search for children of a session.
const maxChildren = 1000

// findChildren finds the sessions that calls started.
func (t *transcriber) findChildren(w window) error {
	calls := false
	for i := range w.Entries {
		for j := range w.Entries[i].Message.Parts {
			calls = calls || w.Entries[i].Message.Parts[j].Call != nil
		}
	}
	if !calls {
		return nil
	}
	for c, err := range door.From(t.ctx).Store.Sessions(t.ctx, skein.Filter{Parent: t.Session.ID, Limit: maxChildren}) {
		if err != nil {
			return err
		}
		if c.Parent != nil && c.Parent.Call != "" {
			t.children[c.Parent.Call] = t.veiled(c)
		}
	}
	return nil
}

func (t *transcriber) findAnswers(e *skein.Entry) {
	for i := range e.Message.Parts {
		if r := e.Message.Parts[i].Result; r != nil && r.CallID != "" {
			t.answers[r.CallID] = &answer{result: r, part: &e.Message.Parts[i], seq: e.Seq, end: e.End, time: e.Time}
		}
	}
}

// line returns text on one line, with secrets masked unless they are to be
// shown.
func (t *transcriber) line(text string) string {
	if t.Raw {
		return line(text)
	}
	return t.Redact(line(text))
}

// line returns text on one line.
func line(text string) string { return render.Line(text) }

// cost returns the cost of u, which is a part of all, the usage of the request
// of e's message; false if it is not known.
func (t *transcriber) cost(e *skein.Entry, u, all skein.Usage) (price.NanoUSD, bool) {
	if t.prices == nil {
		return 0, false
	}
	m := &e.Message
	return t.prices.Cost(skein.UsageRow{
		Provider: or(m.Provider, t.Session.Provider), Model: m.Model, Tier: skein.TierOf(m.Tier, all.Prompt()), Usage: u,
	}, e.Time)
}

// used returns tokens and cost for people.
func used(u skein.Usage, cost price.NanoUSD, known bool) string {
	if u.Tokens() == 0 {
		return ""
	}
	text := compact(u.Prompt()) + " in, " + compact(u.Output) + " out"
	if known && cost > 0 {
		text += " · " + dollars(cost)
	}
	return text
}

// dollars returns c for people: $1.20, <$0.01.
func dollars(c price.NanoUSD) string {
	if c > 0 && c < 1e7 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", float64(c)/1e9)
}

// took returns how long something took, for people: 80 ms, 3.2 s, 4 min 10 s.
func took(from, to skein.Time) string {
	if from == 0 || to == 0 || to < from {
		return ""
	}
	switch d := to.Std().Sub(from.Std()); {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}
