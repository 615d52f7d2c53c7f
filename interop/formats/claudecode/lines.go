package claudecode

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// Lines as they are written, in the program's order.
type (
	lineOut struct {
		Parent     *string         `json:"parentUuid"`
		Logical    string          `json:"logicalParentUuid,omitempty"`
		Sidechain  bool            `json:"isSidechain"`
		User       string          `json:"userType"`
		Cwd        string          `json:"cwd"`
		Session    string          `json:"sessionId"`
		Version    string          `json:"version"`
		Branch     string          `json:"gitBranch"`
		Agent      string          `json:"agentId,omitempty"`
		Type       string          `json:"type"`
		Subtype    string          `json:"subtype,omitempty"`
		Content    string          `json:"content,omitempty"`
		Message    *messageOut     `json:"message,omitempty"`
		Attachment *steerOut       `json:"attachment,omitempty"`
		Meta       bool            `json:"isMeta,omitempty"`
		LogOnly    bool            `json:"isVisibleInTranscriptOnly,omitempty"`
		Summary    bool            `json:"isCompactSummary,omitempty"`
		Request    string          `json:"requestId,omitempty"`
		APIError   bool            `json:"isApiErrorMessage,omitempty"`
		Status     int             `json:"apiErrorStatus,omitempty"`
		Error      string          `json:"error,omitempty"`
		UUID       string          `json:"uuid"`
		Time       skein.Time      `json:"timestamp"`
		Level      string          `json:"level,omitempty"`
		Compact    *compactOut     `json:"compactMetadata,omitempty"`
		Result     json.RawMessage `json:"toolUseResult,omitempty"`
		Source     string          `json:"sourceToolAssistantUUID,omitempty"`
	}
	messageOut struct {
		ID       string    `json:"id,omitempty"`
		Type     string    `json:"type,omitempty"`
		Role     string    `json:"role"`
		Model    string    `json:"model,omitempty"`
		Content  any       `json:"content"`
		*stopOut           // of answers
		Usage    *usageOut `json:"usage,omitempty"`
	}
	stopOut struct {
		Stop     *string `json:"stop_reason"`
		Sequence *string `json:"stop_sequence"`
	}
	usageOut struct {
		Input      int64 `json:"input_tokens"`
		CacheWrite int64 `json:"cache_creation_input_tokens"`
		CacheRead  int64 `json:"cache_read_input_tokens"`
		Output     int64 `json:"output_tokens"`
		*cachedOut
		Tier string `json:"service_tier,omitempty"`
	}
	cachedOut struct {
		Created struct {
			Minutes int64 `json:"ephemeral_5m_input_tokens"`
			Hour    int64 `json:"ephemeral_1h_input_tokens"`
		} `json:"cache_creation"`
	}
	steerOut struct {
		Type   string `json:"type"`
		Prompt any    `json:"prompt"`
		Mode   string `json:"commandMode"`
	}
	titleOut struct {
		Type    string `json:"type"`
		Custom  string `json:"customTitle,omitempty"`
		AI      string `json:"aiTitle,omitempty"`
		Session string `json:"sessionId"`
	}
	lastPromptOut struct {
		Type    string `json:"type"`
		Prompt  string `json:"lastPrompt"`
		Leaf    string `json:"leafUuid"`
		Session string `json:"sessionId"`
	}
	compactOut struct {
		Trigger string `json:"trigger"`
		Before  int64  `json:"preTokens"`
		After   int64  `json:"postTokens,omitempty"`
	}
)

// meta is a line that a program inserted.
func meta(text string) lineOut {
	return lineOut{Type: "user", Meta: true, Message: &messageOut{Role: "user", Content: text}}
}

// put writes a line of the message e that covers everything up to seq, unless the
// file has it, and returns its UUID. Another store that writes to the file may have
// something else at e's seq: hence the time in the UUID.
func (w *writer) put(e *skein.Entry, seq skein.Seq, l lineOut) string {
	all := w.leaves[e.Seq]
	id := newUUID(string(w.d.Session.ID), strconv.FormatInt(int64(e.Seq), 10), strconv.FormatInt(int64(e.Time), 10), strconv.Itoa(len(all)))
	w.leaves[e.Seq] = append(all, id)
	if seq > w.keep && (w.known == nil || !w.known.uuids[id]) {
		w.chain(id, e.Time, seq, l)
	}
	return id
}

// chain appends a line as a child of the one before.
func (w *writer) chain(id string, at skein.Time, seq skein.Seq, l lineOut) {
	if w.parent != "" && l.Compact == nil {
		before := w.parent
		l.Parent = &before
	} else {
		l.Logical = w.parent
	}
	if at == 0 {
		at = w.d.Session.Created
	}
	// Older versions go on from the line with the latest time, or the first of
	// several.
	w.latest = max(w.latest+1, at)
	l.Sidechain, l.Agent, l.User = w.agentID != "", w.agentID, "external"
	l.Cwd, l.Session, l.Version, l.Branch = w.cwd, w.session, w.version, w.branch
	l.UUID, l.Time = id, w.latest
	w.parent = id
	w.add(seq, l)
}

// add appends a line. No line covers less than the one before.
func (w *writer) add(seq skein.Seq, v any) {
	if n := len(w.lines); n > 0 {
		seq = max(seq, w.lines[n-1].Seq)
	}
	w.lines = append(w.lines, interop.OutLine{Body: append(skein.MustJSON(v), '\n'), Seq: seq})
}

// compact writes the compactions that come before the event at seq, no later than its
// time.
func (w *writer) compact(seq skein.Seq, said skein.Time) {
	for len(w.compacts) > 0 && w.compacts[0].at < seq {
		c := w.compacts[0]
		w.compacts = w.compacts[1:]
		e := &skein.Entry{Seq: c.seq, End: c.seq, Time: min(c.time, said)}
		w.put(e, c.seq, lineOut{
			Type: "system", Subtype: "compact_boundary", Content: "Conversation compacted", Level: "info",
			Compact: &compactOut{first(c.what.Trigger, "manual"), c.what.Before, c.what.After},
		})
		text := skein.Text(c.what.Summary).UTF8()
		w.put(e, c.seq, lineOut{Type: "user", Summary: true, LogOnly: true, Message: &messageOut{Role: "user", Content: text}})
		w.asked = true
	}
}

// model writes what a model said, one line per block, unless the blocks would be
// taken for one that grows.
func (w *writer) model(e *skein.Entry, blocks []blockOut) {
	m := &e.Message
	l := lineOut{Type: "assistant"}
	if m.Synthetic || m.Error != nil {
		m.Model, l.APIError = "<synthetic>", m.Error != nil
	}
	if m.Error != nil {
		l.Error, l.Status = m.Error.Kind, m.Error.Status
		w.lose(e, "errors: as Claude Code notes them")
		if len(blocks) == 0 {
			blocks = append(blocks, textBlock("API Error: "+skein.Text(m.Error.Message).UTF8()))
		}
	}
	out := messageOut{
		ID:   first(m.ID, "msg_"+strings.ReplaceAll(newUUID(string(w.d.Session.ID), strconv.FormatInt(int64(e.Seq), 10)), "-", "")),
		Type: "message", Role: "assistant", Model: first(m.Model, w.d.Session.Model, "unknown"), Usage: &usageOut{},
	}
	if u := m.Usage; u != nil {
		out.Usage = usageOf(u, m.Tier)
		if u.Reported > 0 {
			w.lose(e, "costs that were reported")
		}
	}
	if request, ok := strings.CutPrefix(m.Request, out.ID+"/"); ok {
		l.Request = request
	} else if m.Request != out.ID {
		l.Request = m.Request
	}
	pieces := slices.Collect(slices.Chunk(blocks, 1))
	if grows(blocks) {
		pieces = [][]blockOut{blocks}
	}
	for i, b := range pieces {
		o := out
		o.Content, o.stopOut = b, &stopOut{}
		if i == len(pieces)-1 {
			stop := stopOf(m)
			o.Stop = &stop
		}
		l.Message = &o
		id := w.put(e, e.End, l)
		for _, block := range b {
			if block.call != nil {
				block.call.line = id
			}
		}
	}
	w.asked = w.asked || len(blocks) > 0
}

// stopOf returns why an answer ended, in Anthropic's terms.
func stopOf(m *skein.Message) string {
	switch m.Stop {
	case "end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn":
		return m.Stop
	}
	for _, p := range m.Parts {
		if p.Call != nil {
			return "tool_use"
		}
	}
	return "end_turn"
}

// rest writes the lines about the session: its newest line, its title.
func (w *writer) rest() {
	var last skein.Seq
	named := w.d.After == 0
	for _, e := range w.d.Events {
		last = e.Seq
		switch {
		case e.Seq <= w.d.After:
		case e.Kind == skein.KindTitled:
			named = true
		case e.Kind == skein.KindNoted:
			w.losses.Add(e.Seq, "notes: left out")
		}
	}
	if w.agentID != "" {
		return
	}
	s := &w.d.Session
	if w.known != nil && w.known.names { // or the program goes on from the line named before
		w.add(last, lastPromptOut{"last-prompt", s.LastPrompt, w.parent, w.session})
	}
	title := skein.Text(s.Title).UTF8()
	switch {
	case !named || title == "":
	case s.TitleBy == skein.ByPerson:
		w.add(last, titleOut{Type: "custom-title", Custom: title, Session: w.session})
	default:
		w.add(last, titleOut{Type: "ai-title", AI: title, Session: w.session})
	}
}

// usageOf returns a request's usage, as the program counts it.
func usageOf(u *skein.Usage, tier string) *usageOut {
	out := &usageOut{Input: u.Input, CacheWrite: u.CacheWrite, CacheRead: u.CacheRead, Output: u.Output, Tier: tier}
	if u.CacheHour > 0 {
		out.cachedOut = &cachedOut{}
		out.Created.Minutes, out.Created.Hour = u.CacheWrite-u.CacheHour, u.CacheHour
	}
	return out
}
