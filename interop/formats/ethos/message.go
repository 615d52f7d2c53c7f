package ethos

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleResult    = "tool_result"
	roleSystem    = "system"
	roleSteer     = "user_steer"
)

// said returns a row as a message, and false for an unknown role.
func (r *reader) said(row foreign.Row) (m skein.Message, blobs []skein.Blob, ok bool) {
	m = skein.Message{ID: row.Text("id"), Parts: []skein.Part{}, Meta: trace(row.Text("trace_id"))}
	content := row.Text("content")
	switch row.Text("role") {
	case roleUser:
		m.Role = skein.RoleUser
	case roleSteer:
		m.Role = skein.RoleSteer
	case roleSystem: // for the screen: the program shows it to no model
		m.Role, m.Synthetic = skein.RoleSystem, true
	case roleAssistant:
		m.Role = skein.RoleAssistant
		content = r.answer(&m, row, content)
	case roleResult:
		m.Role = skein.RoleTool
		m.Parts = append(m.Parts, skein.Part{Kind: skein.PartResult, Result: &skein.Result{
			CallID: row.Text("tool_call_id"), Name: row.Text("tool_name"), Text: skein.Text(unwrap(row.Text("tool_name"), content)),
		}})
		content = ""
	default:
		return m, nil, false
	}
	if content != "" {
		m.Parts = append(m.Parts, skein.TextPart(content))
	}
	m.Parts = append(m.Parts, calls(row.Text("tool_calls"))...)
	files, blobs := contentBlocks(row.Text("content_blocks"))
	if len(files) > 0 && m.Role == skein.RoleTool {
		res := m.Parts[0].Result
		for _, p := range files {
			if p.File != nil {
				res.Files = append(res.Files, *p.File)
			} else {
				res.Raw = asJSON(row.Text("content_blocks"))
			}
		}
		files = nil
	}
	m.Parts = append(m.Parts, files...)
	return m, blobs, true
}

// answer fills in what only the model's messages have, and returns the text.
func (r *reader) answer(m *skein.Message, row foreign.Row, content string) string {
	if _, used := row.Get("input_tokens").(int64); used {
		m.Usage = &skein.Usage{
			Input: count(row, "input_tokens"), Output: count(row, "output_tokens"),
			CacheRead: count(row, "cache_read_tokens"), CacheWrite: count(row, "cache_creation_tokens"),
			Reported: nanos(row.Get("estimated_cost_usd")),
		}
		m.Model, m.Provider = r.model, r.provider
	}
	text, why, ok := interrupted(content)
	if ok {
		m.Interrupted = true
		m.Error = &skein.ErrorInfo{Kind: "interrupted", Message: why}
	}
	return text
}

// maxCount is the largest count that the program can represent.
const maxCount = 1 << 53

// count returns the number in a column; 0 if it is not a count.
func count(row foreign.Row, column string) int64 {
	if n := row.Int(column); n > 0 && n < maxCount {
		return n
	}
	return 0
}

// nanos returns US dollars in billionths.
func nanos(v foreign.Value) int64 {
	cost, ok := v.(float64)
	if n := math.Round(cost * 1e9); ok && n > 0 && n < maxCount {
		return int64(n)
	}
	return 0
}

// What the program appends to an answer that broke off: the reason goes between
// these.
const (
	interruptedBefore = "\n\n[interrupted — "
	interruptedAfter  = "]"
	maxReason         = 200 // characters
)

// interrupted removes the mark of an answer that broke off.
func interrupted(content string) (text, why string, ok bool) {
	at := strings.LastIndex(content, interruptedBefore)
	if at < 0 {
		return content, "", false
	}
	why, ok = strings.CutSuffix(content[at+len(interruptedBefore):], interruptedAfter)
	if !ok || len([]rune(why)) > maxReason {
		return content, "", false
	}
	return content[:at], why, true
}

// Sentinels surround a tool's output. One in the output itself is broken by a
// zero-width space.
const (
	resultStart  = "===TOOL_RESULT_START:"
	resultEnd    = "===TOOL_RESULT_END==="
	brokenStart  = "=\u200b==TOOL_RESULT_START:"
	brokenEnd    = "=\u200b==TOOL_RESULT_END==="
	resultOpened = "==="
)

// wrap puts the sentinels around the output of a tool.
func wrap(name, output string) string {
	output = strings.NewReplacer(resultStart, brokenStart, resultEnd, brokenEnd).Replace(output)
	return resultStart + name + resultOpened + "\n" + output + "\n" + resultEnd
}

// unwrap removes the sentinels, if they are as wrap puts them.
func unwrap(name, content string) string {
	text, ok1 := strings.CutPrefix(content, resultStart+name+resultOpened+"\n")
	text, ok2 := strings.CutSuffix(text, "\n"+resultEnd)
	if !ok1 || !ok2 {
		return content
	}
	plain := strings.NewReplacer(brokenStart, resultStart, brokenEnd, resultEnd).Replace(text)
	if wrap(name, plain) != content {
		return content
	}
	return plain
}

// traced is a message's Meta.
type traced struct {
	Trace string `json:"trace_id"`
}

func trace(id string) json.RawMessage {
	if id == "" {
		return nil
	}
	return skein.MustJSON(traced{id})
}
