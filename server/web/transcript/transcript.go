package transcript

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/render"
)

// SessionPath returns the path of a session's page.
func SessionPath(id skein.SessionID) string { return "/sessions/" + escapeSegment(string(id)) }

// escapeSegment returns s as one segment of a path.
func escapeSegment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return url.PathEscape(s)
}

// A Transcript is a window of a session as the page shows it.
type Transcript struct {
	PageView
	Items  []transcriptItem
	Before skein.Seq // as in Window
	After  skein.Seq
	Hid    bool // secrets were masked
}

// A PageView is a session, and how a page shows it.
type PageView struct {
	Session skein.Session
	Raw     bool           // secrets are shown
	Rewound bool           // what was taken back is shown
	Nested  bool           // it is shown inside another session's page
	Write   bool           // the visitor may change the session
	Chat    bool           // the visitor may let an agent answer in it
	At      skein.Seq      // seq that the reader is at; 0 at the beginning
	Uncut   bool           // nothing is cut
	Light   bool           // what is folded has little room in all, so that the page is soon there
	Working bool           // an agent works on the last turn, on this server
	Zone    *time.Location // of the reader; nil: UTC
	Mode    Mode
	Folding Folding

	Apart bool                    // it is shown outside of the dashboard: nothing leads to pages of that
	Blob  func(skein.Hash) string // if Apart, the path of a blob; "" if it is not shown
}

// rendered is a message or a call, for its template, with its transcript.
type rendered struct {
	In      *Transcript
	Message *message
	Call    *call
}

// Show returns the data for the template of a message or of a call.
func (t *Transcript) Show(what any) rendered {
	out := rendered{In: t}
	out.Message, _ = what.(*message)
	out.Call, _ = what.(*call)
	return out
}

// Path returns the path of the session's page.
func (v *PageView) Path() string { return SessionPath(v.Session.ID) }

// Link returns the path of another window: key is before, after or at. If the
// transcript is apart, that is the page itself.
func (v *PageView) Link(key string, seq skein.Seq) string {
	if v.Apart {
		return ""
	}
	return v.Path() + "?" + key + "=" + strconv.FormatInt(int64(seq), 10) + v.More()
}

// Piece returns the path of that window without the page around it.
func (v *PageView) Piece(key string, seq skein.Seq) string {
	nested := ""
	if v.Nested {
		nested = "&nested=1"
	}
	return v.Path() + "/messages?" + key + "=" + strconv.FormatInt(int64(seq), 10) + v.More() + nested
}

// Child returns the path of a child's first messages.
func (v *PageView) Child(id skein.SessionID) string {
	return SessionPath(id) + "/messages?nested=1" + v.More()
}

// Whole returns the path of a message in full.
func (v *PageView) Whole(seq skein.Seq) string {
	return v.Path() + "/messages/" + strconv.FormatInt(int64(seq), 10) + "?" + strings.TrimPrefix(v.More(), "&")
}

// blob returns the path of a blob; "" if it is not shown.
func (v *PageView) blob(h skein.Hash) string {
	switch {
	case !v.Apart:
		return v.Path() + "/blobs/" + string(h)
	case v.Blob != nil:
		return v.Blob(h)
	}
	return ""
}

// Cut returns where to read what was left out of a message.
func (v *PageView) Cut(seq skein.Seq, rest int) CutText {
	if v.Apart {
		return CutText{Rest: rest}
	}
	return CutText{v.Whole(seq), rest}
}

// CutText is the end of a text, which is not shown.
type CutText struct {
	Path string // of the whole; "" if there is none
	Rest int    // bytes
}

// Begin returns the path of the first window.
func (v *PageView) Begin() string {
	return strings.TrimSuffix(v.Path()+"?"+strings.TrimPrefix(v.More(), "&"), "?")
}

// SecretsPath returns the path of the transcript with secrets or, if it shows
// them, without.
func (v *PageView) SecretsPath() string {
	other := *v
	other.Raw = !v.Raw
	return other.here()
}

// RewoundPath returns the path of the transcript with what was taken back or,
// if it shows that, without.
func (v *PageView) RewoundPath() string {
	other := *v
	other.Rewound = !v.Rewound
	return other.here()
}

// ModePath returns the path of the transcript in another mode.
func (v *PageView) ModePath(m Mode) string {
	other := *v
	other.Mode = m
	return other.here()
}

func (v *PageView) here() string {
	if v.At == 0 {
		return v.Begin()
	}
	return v.Link("at", v.At)
}

// More returns the visitor's settings that differ from the defaults, to be
// added to a path.
func (v *PageView) More() (more string) {
	if v.Raw {
		more += "&raw=1"
	}
	if v.Rewound {
		more += "&rewound=1"
	}
	if v.Mode != ModeAll {
		more += "&show=" + string(v.Mode)
	}
	return more
}

// A Maker makes transcripts. It is safe for concurrent use.
type Maker struct {
	secrets *redact.Redactor
	prices  func() (*price.List, error)
	pieces  func() *render.PartRenderer // made when first needed
}

// NewMaker returns a Maker that masks secrets, unless that is nil, and shows
// costs by the prices, unless they are nil.
func NewMaker(secrets *redact.Redactor, prices func() (*price.List, error)) *Maker {
	return &Maker{secrets, prices, sync.OnceValue(render.NewPieces)}
}

// Make makes the transcript of a window of v's session, with what the store
// says about the sessions that its calls started.
//
// The error is the store's or the prices', or says that a rewind in w cannot be
// read.
func (m *Maker) Make(ctx context.Context, store skein.Store, v PageView, w Window) (*Transcript, error) {
	t := newTranscriber(m, v)
	t.Before, t.After = w.Before, w.After
	if m.prices != nil {
		var err error
		if t.list, err = m.prices(); err != nil {
			return nil, err
		}
	}
	if !t.Rewound {
		var err error
		if w, err = w.current(); err != nil {
			return nil, err
		}
	}
	if err := t.findChildren(ctx, store, w); err != nil {
		return nil, err
	}
	if len(w.Entries) > 0 && w.Before > 0 {
		before, err := store.Newest(ctx, v.Session.ID, 1, w.Entries[0].Seq)
		if err != nil {
			return nil, err
		}
		for i := range before {
			t.last = before[i].Time
		}
	}
	t.build(t.masked(w))
	return &t.Transcript, nil
}

// MakeApart makes the transcript of a window that is shown outside of the dashboard: it says
// nothing of other sessions. Secrets must be masked in v and w already.
//
// The error says that a rewind in w cannot be read.
func (m *Maker) MakeApart(v PageView, w Window) (*Transcript, error) {
	v.Apart = true
	t := newTranscriber(&Maker{pieces: m.pieces}, v)
	t.Before, t.After = w.Before, w.After
	w, err := w.current()
	if err != nil {
		return nil, err
	}
	t.build(w)
	t.Before, t.After = 0, 0
	return &t.Transcript, nil
}

// transcriber makes one transcript.
type transcriber struct {
	*Maker
	Transcript
	abridger
	pageMarks
	list      *price.List // nil if there are none
	states    map[string]skein.ToolState
	answers   map[string]*toolResult
	children  map[string]skein.Session // by the call that started them
	date      string                   // of what was added last, in the reader's zone
	last      skein.Time               // when something happened last
	answersOf map[int]skein.Seq        // the last answers of turns
	changing  map[int]bool             // the turns that change files
	files     seenFiles
	plain     bool // nothing is left out or shown as Markdown
}

func newTranscriber(m *Maker, v PageView) *transcriber {
	return &transcriber{
		Maker: m, Transcript: Transcript{PageView: v}, abridger: abridger{renderer: m.pieces, uncut: v.Uncut, light: v.Light},
		states: map[string]skein.ToolState{}, answers: map[string]*toolResult{}, children: map[string]skein.Session{}, files: seenFiles{},
	}
}

// toolResult is the result of a tool call.
type toolResult struct {
	result *skein.Result
	part   *skein.Part
	seq    skein.Seq // of the message that it is in
	end    skein.Seq
	time   skein.Time
	taken  bool // shown with its call
}

// build makes the items of w.
func (t *transcriber) build(w Window) {
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
	if t.Mode != ModeAll {
		t.choose(&w)
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
		t.last = max(t.last, e.Time)
		if e.Seq <= t.Session.Base && (i+1 == len(w.Entries) && w.After == 0 || i+1 < len(w.Entries) && w.Entries[i+1].Seq > t.Session.Base) {
			turns.end()
			t.add(transcriptItem{Mark: &divider{Seq: e.Seq, Class: "fork", Text: "The fork begins here. The messages above belong to", Session: t.Session.Parent.Session}})
		}
	}
	for _, e := range events {
		t.mark(e)
	}
	if w.After == 0 && !t.Working {
		turns.end()
	}
}

func (t *transcriber) add(i transcriptItem) { t.Items = append(t.Items, i) }

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
func (t *transcriber) findChildren(ctx context.Context, store skein.Store, w Window) error {
	calls := false
	for i := range w.Entries {
		for j := range w.Entries[i].Message.Parts {
			calls = calls || w.Entries[i].Message.Parts[j].Call != nil
		}
	}
	if !calls {
		return nil
	}
	for c, err := range store.Sessions(ctx, skein.Filter{Parent: t.Session.ID, Limit: maxChildren}) {
		if err != nil {
			return err
		}
		if c.Parent != nil && c.Parent.Call != "" {
			if t.secrets != nil {
				c = t.secrets.Session(c)
			}
			t.children[c.Parent.Call] = c
		}
	}
	return nil
}

func (t *transcriber) findAnswers(e *skein.Entry) {
	for i := range e.Message.Parts {
		if r := e.Message.Parts[i].Result; r != nil && r.CallID != "" {
			t.answers[r.CallID] = &toolResult{result: r, part: &e.Message.Parts[i], seq: e.Seq, end: e.End, time: e.Time}
		}
	}
}

// cost returns the cost of u, which is a part of all, the usage of the request
// of e's message; false if it is not known.
func (t *transcriber) cost(e *skein.Entry, u, all skein.Usage) (price.NanoUSD, bool) {
	if t.list == nil {
		return 0, false
	}
	m := &e.Message
	return t.list.Cost(skein.UsageRow{
		Provider: cmp.Or(m.Provider, t.Session.Provider), Model: m.Model, Tier: skein.TierOf(m.Tier, all.Prompt()), Usage: u,
	}, e.Time)
}

// used returns tokens and cost for people.
func used(u skein.Usage, cost price.NanoUSD, known bool) string {
	if u.Tokens() == 0 {
		return ""
	}
	text := render.Short(u.Prompt()) + " in, " + render.Short(u.Output) + " out"
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

// masked masks the secrets in w, and in the session.
func (t *transcriber) masked(w Window) Window {
	if t.Raw || t.secrets == nil {
		return w
	}
	for i := range w.Entries {
		e := t.secrets.Entry(w.Entries[i])
		t.Hid = t.Hid || !sameText(&e.Message, &w.Entries[i].Message)
		w.Entries[i] = e
	}
	for i := range w.Events {
		w.Events[i] = t.secrets.Event(w.Events[i])
	}
	t.Session = t.secrets.Session(t.Session)
	return w
}

// sameText reports whether two messages, one made from the other, have the same
// text.
func sameText(a, b *skein.Message) bool {
	for i := range a.Parts {
		p, q := &a.Parts[i], &b.Parts[i]
		switch {
		case p.Text != q.Text,
			p.Call != nil && string(p.Call.Input) != string(q.Call.Input),
			p.Result != nil && (p.Result.Text != q.Result.Text || string(p.Result.Raw) != string(q.Result.Raw)):
			return false
		}
	}
	return true
}
