package ethos

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// isUUID reports whether the program could have assigned an ID.
func isUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range []byte(id) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case (c < '0' || c > '9') && (c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

// uuid returns id if it is a UUID, else one derived from it.
func uuid(id string) string {
	if isUUID(id) {
		return id
	}
	b := sha256.Sum256([]byte(id))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// rowID returns the ID of the n-th row of an entry. Rows that a fork has from its
// parent get their own IDs: the parent's rows may be in the same database.
func (w *writer) rowID(e *skein.Entry, n int) string {
	if n == 0 && e.Seq > w.d.Session.Base && isUUID(e.Message.ID) {
		return e.Message.ID
	}
	return uuid(fmt.Sprintf("%s/%d/%d", w.id, e.Seq, n))
}

// entry makes the rows of a message.
func (w *writer) entry(e skein.Entry) {
	rows := w.rowsOf(&e)
	for n, vs := range rows {
		id := w.rowID(&e, n)
		w.all = append(w.all, placed{e.Seq, id})
		if e.Seq <= w.d.After {
			w.undo(&e, id)
			continue
		}
		if e.Time > w.last {
			w.last = e.Time // the program sorts messages by time: it never goes back
		}
		vs["id"], vs["session_id"], vs["timestamp"] = id, w.id, max(w.last, w.d.Session.Created, 1).String()
		if e.Rewound {
			vs["deleted_at"] = skein.At(w.d.Now).String()
		}
		w.put(e.End, "messages", vs)
	}
}

// undo writes an existing row again, if it was rewound since, or if the session
// returned to it.
func (w *writer) undo(e *skein.Entry, id string) {
	r, ok := w.rows[id]
	i := slices.Index(r.Columns, "deleted_at")
	if !ok || i < 0 || e.Rewound == (r.Values[i] != nil) || !e.Rewound && !w.d.WentBack() {
		return
	}
	r.Values = slices.Clone(r.Values)
	if r.Values[i] = nil; e.Rewound {
		r.Values[i] = skein.At(w.d.Now).String()
	}
	w.lines = append(w.lines, interop.OutLine{Body: r.Line(), Seq: w.seq})
}

// rowsOf returns the rows of a message, without the common columns: the message's
// own, and one for each result in it.
func (w *writer) rowsOf(e *skein.Entry) (rows []values) {
	m := &e.Message
	var texts []string
	var calls, blocks []byte
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Result != nil:
			rows = append(rows, w.result(e, p.Result))
		case p.Call != nil:
			w.names[p.Call.ID] = p.Call.Name
			calls = appendCall(calls, p.Call)
		case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent:
			texts = append(texts, w.text(e, p.Text))
		case p.File != nil:
			blocks = w.block(e, blocks, p.File)
		default:
			w.lose(e, string(p.Kind)+": left out")
		}
	}
	if len(texts) > 1 {
		w.lose(e, "texts of one message: put together")
	}
	if len(texts) == 0 && calls == nil && blocks == nil && len(rows) > 0 {
		return rows
	}
	own := w.own(e, strings.Join(texts, "\n\n"), calls, blocks)
	if m.Role == skein.RoleAssistant {
		return append([]values{own}, rows...)
	}
	return append(rows, own) // an answer follows its call
}

// own returns the message's own row.
func (w *writer) own(e *skein.Entry, content string, calls, blocks []byte) values {
	m := &e.Message
	vs := values{"role": roleOf(m.Role), "content": content}
	if m.Interrupted {
		why := "broken off"
		if m.Error != nil && m.Error.Message != "" {
			why = string([]rune(m.Error.Message)[:min(maxReason, len([]rune(m.Error.Message)))])
		}
		vs["content"] = content + interruptedBefore + why + interruptedAfter
	} else if m.Error != nil {
		w.lose(e, "error of an answer: left out")
	} else if _, _, like := interrupted(content); like && m.Role == skein.RoleAssistant {
		w.lose(e, "that an answer did not break off, though its end says so")
	}
	if m.Synthetic && m.Role == skein.RoleUser {
		w.lose(e, "that a program put a message in: left out")
	}
	if calls != nil {
		vs["tool_calls"] = string(append(calls, ']'))
	}
	if blocks != nil {
		vs["content_blocks"] = string(append(blocks, ']'))
	}
	var t traced
	if json.Unmarshal(m.Meta, &t) == nil && t.Trace != "" {
		vs["trace_id"] = t.Trace
	}
	if u := m.Usage; u != nil && m.Role == skein.RoleAssistant {
		vs["input_tokens"], vs["output_tokens"] = u.Input, u.Output
		vs["cache_read_tokens"], vs["cache_creation_tokens"] = u.CacheRead, u.CacheWrite
		vs["estimated_cost_usd"] = float64(u.Reported) / 1e9
		if e.Seq > w.d.After {
			w.added = w.added.Plus(*u)
			w.calls++
		}
	}
	return vs
}

func roleOf(r skein.Role) string {
	switch r {
	case skein.RoleAssistant:
		return roleAssistant
	case skein.RoleTool:
		return roleResult
	case skein.RoleSystem:
		return roleSystem
	case skein.RoleSteer:
		return roleSteer
	}
	return roleUser
}

// result returns the row of a tool's result.
func (w *writer) result(e *skein.Entry, r *skein.Result) values {
	name := r.Name
	if name == "" {
		name = w.names[r.CallID]
	}
	if r.Failed {
		w.lose(e, "that a tool failed: left out")
	}
	var blocks []byte
	for i := range r.Files {
		blocks = w.block(e, blocks, &r.Files[i])
	}
	if r.Raw != nil {
		w.lose(e, "tool output that is not text: left out")
	}
	content := wrap(name, w.text(e, r.Text))
	if unwrap(name, content) != r.Text.UTF8() {
		w.lose(e, "a tool's own broken sentinel: read as an intact one")
	}
	vs := values{"role": roleResult, "content": content, "tool_call_id": r.CallID, "tool_name": or(name, nil)}
	if blocks != nil {
		vs["content_blocks"] = string(append(blocks, ']'))
	}
	return vs
}

func (w *writer) text(e *skein.Entry, t skein.Text) string {
	if t.UTF8() != string(t) {
		w.lose(e, "invalid characters, which were replaced")
	}
	return t.UTF8()
}

func (w *writer) lose(e *skein.Entry, what string) {
	if e.Seq > w.d.After {
		w.losses.Add(e.Seq, what)
	}
}

// appendCall appends a call to the unfinished JSON of tool_calls.
func appendCall(b []byte, c *skein.Call) []byte {
	b = append(b, "[,"[min(len(b), 1)])
	b = skein.AppendQuoted(append(b, `{"id":`...), c.ID)
	b = skein.AppendQuoted(append(b, `,"name":`...), c.Name)
	input := []byte(c.Input)
	if len(input) == 0 {
		input = []byte("{}")
	}
	return append(append(append(b, `,"input":`...), input...), '}')
}

// maxInline is the size of the largest file that is put into a row, in bytes.
const maxInline = 16 << 20

// block appends an image or document to the unfinished JSON of content_blocks.
func (w *writer) block(e *skein.Entry, b []byte, f *skein.File) []byte {
	image := strings.HasPrefix(f.Media, "image/")
	if f.Blob == "" || f.Size > maxInline || !image && f.Media != "application/pdf" && !strings.HasPrefix(f.Media, "text/") {
		w.lose(e, "file that is not an image or document, or whose bytes are missing: left out")
		return b
	}
	data, err := w.d.Blob(f.Blob)
	if err != nil {
		w.lose(e, "file whose bytes are gone: left out")
		return b
	}
	kind := "document"
	if image {
		kind = "image"
	}
	b = append(b, "[,"[min(len(b), 1)])
	b = skein.AppendQuoted(append(b, `{"type":"`+kind+`","source":{"type":"base64","media_type":`...), f.Media)
	b = append(b, `,"data":"`...)
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, `"}}`...)
}

// compactions makes the rows of compactions.
func (w *writer) compactions() {
	line, err := skein.OnLine(w.d.Events, w.d.Session.Last)
	if err != nil {
		return
	}
	for _, ev := range w.d.Events {
		c, err := skein.Decode[skein.Compacted](ev)
		if ev.Kind != skein.KindCompacted || err != nil || c.Failed || ev.Seq <= w.d.After {
			continue
		}
		in := slices.ContainsFunc(line, func(r skein.SeqRange) bool { return ev.Seq > r.From && ev.Seq <= r.To })
		kept := slices.IndexFunc(w.all, func(p placed) bool { return p.seq > c.To })
		if !in || kept < 0 || c.Opaque != nil && c.Summary == "" {
			w.losses.Add(ev.Seq, "compaction: left out")
			continue
		}
		w.put(ev.Seq, "compressions", values{
			"id": uuid(fmt.Sprintf("%s/%d", w.id, ev.Seq)), "session_id": w.id, "created_at": max(ev.Time, w.d.Session.Created).String(),
			"engine_name": "skein", "original_count": int64(len(w.all)), "kept_count": int64(len(w.all) - kept),
			"summary_text": or(c.Summary, nil), "summary_tokens": int64(len(c.Summary) / 4), "pre_total_tokens": c.Before, "post_total_tokens": c.After,
			"duration_ms": int64(0), "kept_from_message_id": w.all[kept].id,
		})
	}
}

// others reports what else has no row.
func (w *writer) others() {
	for _, ev := range w.d.Events {
		if ev.Seq <= w.d.After {
			continue
		}
		switch ev.Kind {
		case skein.KindNoted:
			if n, err := skein.Decode[skein.Noted](ev); err != nil || n.Name != "ethos:session" {
				w.losses.Add(ev.Seq, "note: left out")
			}
		case skein.KindTool:
			w.losses.Add(ev.Seq, "when a tool ran: left out")
		case skein.KindStep:
			w.losses.Add(ev.Seq, "request to a model: left out")
		}
	}
}

func keyOf(data json.RawMessage) string {
	var a about
	if json.Unmarshal(data, &a) != nil {
		return ""
	}
	return a.Key
}
