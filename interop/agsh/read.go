package agsh

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
)

// A reader reads the rows of one session.
type reader struct{ id string }

func open(f interop.File) interop.Reader { return &reader{f.Name} }

// Read implements [interop.Reader].
func (r *reader) Read(l interop.Line) (m interop.Made, err error) {
	row, ok, err := foreign.ParseRow(l.Body)
	switch {
	case err != nil || !ok:
		return m, err
	case row.Damage != "":
		return m, errors.New(row.Damage)
	}
	switch row.Table {
	case "sessions":
		r.session(&m, row)
	case "messages":
		err = r.message(&m, row)
	}
	return m, err
}

func (r *reader) session(m *interop.Made, row foreign.Row) {
	at, _ := skein.ParseTime(row.Text("created_at"))
	m.Begin = []interop.Begin{{ID: skein.SessionID(r.id), Time: at, Created: skein.Created{
		Agent: Name, Program: Name, Surface: "import", Cwd: row.Text("cwd"), Origin: &skein.Origin{ID: r.id},
	}}}
}

func (r *reader) message(m *interop.Made, row foreign.Row) error {
	m.Key = skein.ClientID("agsh:" + r.id + ":" + strconv.FormatInt(row.Int("id"), 10))
	at, err := skein.ParseTime(row.Text("created_at"))
	if err != nil {
		m.Damage = fmt.Sprintf("created_at %q", row.Text("created_at"))
	}
	said, ok := message(row.Text("role"), row.Text("content"))
	if !ok {
		m.Items = []interop.Item{{Event: skein.NewEvent(skein.KindNoted, at, skein.Noted{
			Name: "agsh:" + row.Text("role"), Data: skein.MustJSON(row.Text("content")),
		})}}
		return nil
	}
	m.Items = []interop.Item{{Event: skein.Say(at, said)}}
	return nil
}

// A block is a piece of a message's content.
type block struct {
	Type, Text string
	ID, Name   string
	Input      json.RawMessage
	ToolUseID  string          `json:"tool_use_id"`
	Content    json.RawMessage `json:"content"`
	IsError    bool            `json:"is_error"`
}

// message returns what a row says, and false if no role of a conversation says
// it.
func message(role, content string) (m skein.Message, ok bool) {
	switch role {
	case "user":
		return skein.UserSays(content), true
	case "assistant":
		m.Role = skein.RoleAssistant
	case "tool_results", "user_blocks":
		m.Role = skein.RoleUser
	default:
		return m, false
	}
	var blocks []json.RawMessage
	if json.Unmarshal([]byte(content), &blocks) != nil {
		m.Parts = []skein.Part{skein.TextPart(content)}
		return m, role == "assistant"
	}
	if role == "tool_results" {
		m.Role = skein.RoleTool
	}
	for _, raw := range blocks {
		m.Parts = append(m.Parts, part(raw))
	}
	return m, true
}

func part(raw json.RawMessage) skein.Part {
	var b block
	if json.Unmarshal(raw, &b) == nil {
		switch b.Type {
		case "text":
			return skein.TextPart(b.Text)
		case "tool_use":
			return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: b.ID, Name: b.Name, Input: b.Input}}
		case "tool_result":
			res := &skein.Result{CallID: b.ToolUseID, Failed: b.IsError}
			var text string
			if json.Unmarshal(b.Content, &text) == nil {
				res.Text = skein.Text(text)
			} else {
				res.Raw = b.Content
			}
			return skein.Part{Kind: skein.PartResult, Result: res}
		}
	}
	return skein.Part{Kind: skein.PartOther, Raw: raw}
}
