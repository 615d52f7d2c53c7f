package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
)

// mostSaid is the length, in bytes, from which on a message is stored in parts.
const mostSaid = 1 << 20

// A Recorder turns what is said in one session into events. All methods may be called
// from several goroutines.
type Recorder struct {
	*Writer
	now  func() skein.Time
	mu   sync.Mutex
	open *speech
	said string // text of the prompt that has no answer yet
	turn bool   // there is one
	n    int

	calls  map[string]*call
	told   agentFigures
	same   map[string]string
	titled string

	begun bool          // something was said
	early []skein.Event // notes from before, which do not make a session of work
}

// agentFigures are the numbers and names that the agent tells in passing.
type agentFigures struct {
	model string
	cost  float64     // of the session
	spent skein.Usage // of the turn, as far as it is known
}

// NewRecorder returns a recorder that writes to w.
func NewRecorder(w *Writer, now func() skein.Time) *Recorder {
	return &Recorder{Writer: w, now: now, calls: map[string]*call{}, same: map[string]string{}}
}

// A speech is a message that is not complete yet.
type speech struct {
	role  skein.Role
	id    string // as the agent names it; "" if it does not
	parts []skein.Part
	blobs []skein.Blob
	text  strings.Builder // of the last part
	size  int
	start skein.Time
}

// Prompt records a prompt. params are those of session/prompt.
func (r *Recorder) Prompt(params []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close("")
	parts, blobs := partsOf(objectOf(params).list("prompt"))
	m := skein.Message{Role: skein.RoleUser, Parts: parts}
	if m.Parts == nil {
		m.Parts = []skein.Part{}
	}
	r.turn, r.said, r.told.spent = true, m.Words(), skein.Usage{}
	r.say(blobs, skein.Say(r.now(), m))
}

// A GuestPrompt is a prompt that is not the editor's.
type GuestPrompt struct {
	ID     string          `json:"id"` // tells it from others that say the same
	By     string          `json:"by"`
	Blocks json.RawMessage `json:"prompt,omitempty"` // its content
}

// The notes of what becomes of a guest's prompt.
const (
	promptWaits  = "acp:prompt_waits"
	promptBegins = "acp:prompt"
	promptUnsent = "acp:prompt_unsent" // it was told that it will not begin
)

// Waits returns the note that p waits for its turn.
func (p GuestPrompt) Waits() skein.Noted {
	return skein.Noted{Name: promptWaits, Data: skein.MustJSON(p)}
}

// Begins returns the note that the turn of p has come.
func (p GuestPrompt) Begins() skein.Noted { return p.now(promptBegins) }

// Unsent returns the note that somebody was told that p will not begin.
func (p GuestPrompt) Unsent() skein.Noted { return p.now(promptUnsent) }

func (p GuestPrompt) now(name string) skein.Noted {
	p.Blocks = nil
	return skein.Noted{Name: name, Data: skein.MustJSON(p)}
}

// Guest records a guest's prompt.
func (r *Recorder) Guest(p GuestPrompt) {
	r.Prompt(skein.MustJSON(map[string]any{"prompt": p.Blocks}))
	n := p.Begins()
	r.Note(strings.TrimPrefix(n.Name, "acp:"), n.Data)
}

// Waits records a prompt that waits for its turn, which is recorded again when that
// begins.
func (r *Recorder) Waits(p GuestPrompt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say(nil, skein.NewEvent(skein.KindNoted, r.now(), p.Waits()))
}

// Unsent returns the guests' prompts that waited when the program that had the session
// ended, and of which nobody has been told: waits are those of the notes before n.
func Unsent(waits []GuestPrompt, n *skein.Noted) []GuestPrompt {
	var p GuestPrompt
	if n.Name != promptWaits && n.Name != promptBegins && n.Name != promptUnsent || json.Unmarshal(n.Data, &p) != nil || p.ID == "" {
		return waits
	}
	if n.Name == promptWaits {
		return append(waits, p)
	}
	return slices.DeleteFunc(waits, func(w GuestPrompt) bool { return w.ID == p.ID })
}

// Words returns the text of p, of at most some 500 bytes.
func (p GuestPrompt) Words() string {
	parts, _ := partsOf(objectOf(skein.MustJSON(p)).list("prompt"))
	m := skein.Message{Parts: parts}
	words := m.Words()
	if len(words) > 500 {
		words = strings.ToValidUTF8(words[:500], "") + "…"
	}
	return words
}

// MarkTurn stores the message that is not complete yet as far as it came, and remembers
// where the recording is; see [Writer.Base].
func (r *Recorder) MarkTurn() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close("")
	r.Mark()
}

// say adds an event of work, after what was noted before the first.
func (r *Recorder) say(blobs []skein.Blob, e skein.Event) {
	if !r.begun {
		r.begun = true
		r.Add(nil, r.early...)
		r.early = nil
	}
	r.Add(blobs, e)
}

// Begin adds the session's created event, or that a session continues.
func (r *Recorder) Begin(e skein.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Kind == skein.KindCreated {
		r.Add(nil, e)
		return
	}
	r.early = append(r.early, e)
}

// End adds how the work ended, if there was any.
func (r *Recorder) End(p skein.Program) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close(interrupted)
	r.settle()
	if r.begun {
		r.Add(nil, skein.NewEvent(skein.KindEnded, r.now(), p))
	}
}

// Continue says what the session has from before: its newest event, and its tool calls.
// Nobody knows the outcome of those that were running when their program died.
func (r *Recorder) Continue(last skein.Seq, calls, running []string) {
	r.From(last)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range calls {
		r.calls[id] = &call{id: id, state: skein.Completed, settled: true}
	}
	for _, id := range running {
		r.say(nil, skein.NewEvent(skein.KindTool, r.now(), skein.ToolState{Call: id, State: skein.Uncertain}))
	}
}

// mostEarly limits what is kept of a session in which nothing is said.
const mostEarly = 100

// chunk adds a piece of a message.
func (r *Recorder) chunk(role skein.Role, kind skein.PartKind, u object) {
	id := u.text("messageId")
	p, blobs := partOf(u["content"])
	if s := r.open; s != nil && (s.role != role || s.id != id && s.id != "" && id != "" || s.size > mostSaid) {
		r.close("")
	}
	if r.open == nil {
		r.open = &speech{role: role, start: r.now()}
	}
	s := r.open
	s.id, s.blobs = cmp.Or(s.id, id), append(s.blobs, blobs...)
	for _, b := range blobs {
		s.size += len(b.Data)
	}
	if p.Kind == skein.PartText {
		p.Kind = kind
	}
	s.size += len(p.Text) + len(p.Raw) + 1
	if n := len(s.parts); n > 0 && p.Kind == kind && s.parts[n-1].Kind == kind && len(p.Meta) == 0 && len(s.parts[n-1].Meta) == 0 {
		s.text.WriteString(string(p.Text))
		return
	}
	s.end()
	s.text.WriteString(string(p.Text))
	p.Text = ""
	s.parts = append(s.parts, p)
}

// end completes the last part of s.
func (s *speech) end() {
	if n := len(s.parts); n > 0 && s.text.Len() > 0 {
		s.parts[n-1].Text = skein.Text(s.text.String())
	}
	s.text.Reset()
}

// close stores the message that is not complete yet, as it is. stop is why it ended;
// "" if something else follows.
func (r *Recorder) close(stop string) {
	s := r.open
	if s == nil {
		return
	}
	r.open = nil
	s.end()
	m := skein.Message{Role: s.role, Parts: s.parts, Stop: stop}
	if s.role == skein.RoleAssistant {
		m.Model = r.told.model
	}
	if s.id != "" {
		m.Meta = meta{object{"messageId": skein.MustJSON(s.id)}}.json()
	}
	if s.role == skein.RoleUser {
		if r.turn && m.Words() == r.said {
			return // the agent repeats the prompt
		}
		m.Synthetic = r.turn
	}
	m.Interrupted = stop == interrupted
	r.say(s.blobs, skein.Say(s.start, m))
}

// interrupted is the stop reason of a message of which the end is missing.
const interrupted = "interrupted"

// Note records something whole, under a name.
func (r *Recorder) Note(name string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(name, "", data)
}

func (r *Recorder) note(name, level string, data []byte) {
	if !json.Valid(data) {
		data = skein.MustJSON(strings.ToValidUTF8(string(data), "\uFFFD"))
	}
	e := skein.NewEvent(skein.KindNoted, r.now(), skein.Noted{Name: "acp:" + name, Level: level, Data: data})
	switch {
	case r.begun:
		r.Add(nil, e)
	case len(r.early) < mostEarly:
		r.early = append(r.early, e)
	}
}

// changes is note, unless the same was noted last under this name.
func (r *Recorder) changes(name string, data []byte) {
	if r.same[name] != string(data) {
		r.same[name] = string(data)
		r.note(name, "", data)
	}
}

// Update records an update. params are those of session/update.
func (r *Recorder) Update(params []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw := objectOf(params)["update"]
	u := objectOf(raw)
	switch kind := u.text("sessionUpdate"); kind {
	case "user_message_chunk":
		r.chunk(skein.RoleUser, skein.PartText, u)
	case "agent_message_chunk":
		r.chunk(skein.RoleAssistant, skein.PartText, u)
	case "agent_thought_chunk":
		r.chunk(skein.RoleAssistant, skein.PartReasoning, u)
	case "tool_call", "tool_call_update":
		r.toolUpdate(kind, u)
	case "session_info_update":
		if t := skein.ShortTitle(u.text("title")); t != "" && t != r.titled {
			r.titled = t
			r.say(nil, skein.NewEvent(skein.KindTitled, r.now(), skein.Titled{Title: t, By: skein.ByModel}))
		}
		r.changes(kind, skein.MustJSON(u.without("updatedAt")))
	case "usage_update":
		r.told.costs(objectOf(u["cost"]))
		r.changes(kind, raw)
	case "config_option_update":
		r.told.options(u)
		r.changes(kind, raw)
	case "notice":
		r.note(kind, u.text("severity"), raw)
	case "compaction_update":
		r.compacted(u)
		r.note(kind, "", raw)
	case "":
		r.note("session/update", "", params)
	default:
		r.changes(kind, raw)
	}
}

// costs takes the session's cost so far: what is more than before was spent in this turn.
func (f *agentFigures) costs(c object) {
	var amount float64
	if json.Unmarshal(c["amount"], &amount) != nil || c.text("currency") != "USD" {
		return
	}
	if amount > f.cost {
		f.spent.Reported += int64((amount - f.cost) * 1e9)
	}
	f.cost = amount
}

// Options takes the model from the answer to session/new and the like.
func (r *Recorder) Options(result []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told.options(objectOf(result))
}

// options takes the model from options.
func (f *agentFigures) options(o object) {
	for _, raw := range o.list("configOptions") {
		if c := objectOf(raw); c.text("category") == "model" {
			f.model = cmp.Or(c.text("currentValue"), f.model)
		}
	}
	f.model = cmp.Or(objectOf(o["models"]).text("currentModelId"), f.model)
}

// compacted records a compaction of which the agent gives the summary.
func (r *Recorder) compacted(u object) {
	if u.text("status") != "completed" || !u.has("summary") {
		return
	}
	parts, _ := partsOf(u.list("summary"))
	m := skein.Message{Parts: parts}
	if to := r.Last(); to > 0 && m.Words() != "" {
		r.Add(nil, skein.NewEvent(skein.KindCompacted, r.now(), skein.Compacted{To: to, Summary: m.Words()}))
	}
}

// Answered records the answer to a prompt: its result or its error.
func (r *Recorder) Answered(result, failure []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn = false
	o := objectOf(result)
	stop := o.text("stopReason")
	r.close(cmp.Or(stop, interrupted))
	r.settle()
	s := skein.Step{Phase: "finish", Model: r.told.model, Stop: stop, Several: true}
	r.n++
	s.Request = fmt.Sprintf("%s-turn-%d", r.prefix, r.n)
	if spent := usageOf(objectOf(o["usage"]), r.told.spent); spent != (skein.Usage{}) {
		s.Usage = &spent
	}
	switch f := objectOf(failure); {
	case len(failure) > 0:
		s.Error = &skein.ErrorInfo{Kind: string(f["code"]), Message: cmp.Or(f.text("message"), string(failure))}
	case stop == "cancelled":
		s.Error = &skein.ErrorInfo{Kind: interrupted, Message: "canceled by the user"}
	}
	r.say(nil, skein.NewEvent(skein.KindStep, r.now(), s))
	if o.has("_meta") || o.has("usage") {
		r.note("session/prompt", "", result)
	}
}

// usageOf returns what a turn used, given the rest of what it spent. The schema's counts
// are sums over all turns, but agents report each turn by itself (seen with opencode
// 1.18.33 on 2026-11-23).
func usageOf(u object, turn skein.Usage) skein.Usage {
	count := func(name string) (n int64) {
		if json.Unmarshal(u[name], &n) != nil {
			return 0
		}
		return n
	}
	turn.Input, turn.Output, turn.Reasoning = count("inputTokens"), count("outputTokens"), count("thoughtTokens")
	turn.CacheRead, turn.CacheWrite = count("cachedReadTokens"), count("cachedWriteTokens")
	return turn
}
