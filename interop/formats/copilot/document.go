package copilot

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

// A document is a reader of the sessions of early versions: one JSON document with
// the messages in the API's form, or with what the screen showed.
type document struct{ *reader }

// Read implements [interop.Reader]; the error says that the piece holds no JSON
// object.
func (d document) Read(in interop.Line) (m interop.Made, err error) {
	text, err := interop.Piece(in.Body)
	if err != nil {
		return m, err
	}
	e := loose.Element(text)
	switch {
	case in.N == 0:
		o, err := loose.Parse(bytes.TrimPrefix(e, []byte("\xef\xbb\xbf")))
		if len(o) == 0 && err != nil {
			return m, err
		}
		return d.head(o), nil // continued in the next piece
	case bytes.HasPrefix(e, []byte("]")):
		return m, nil
	case !bytes.HasPrefix(e, []byte("{")):
		return m, fmt.Errorf("no message: %.40q", e)
	}
	o, err := loose.Parse(e)
	if err != nil {
		return m, err
	}
	l := line{at: loose.Stamp(o.Get("timestamp")), data: o, raw: o.Without(), body: e}
	if o.Has("role") {
		return d.make(l, d.message(l)...), nil
	}
	return d.make(l, d.shown(l)...), nil
}

func (d document) head(o loose.Object) (m interop.Made) {
	if id := o.Str("sessionId"); id != "" {
		d.id = id
	}
	d.start = loose.Stamp(o.Get("startTime"))
	if d.model = o.Str("selectedModel", "model"); d.model != "" {
		d.created.Model = d.model
	}
	m.Begin = d.begin("", d.start)
	return m
}

// message reads a message in the API's form.
func (d document) message(l line) []piece {
	m := skein.Message{Parts: []skein.Part{}}
	s := contents(l.data.Get("content"))
	switch role := l.data.Str("role"); role {
	case "tool":
		res := &skein.Result{CallID: l.data.Str("tool_call_id"), Text: skein.Text(s.text())}
		return []piece{say(l.at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}})}
	case "system", "developer":
		m.Role, m.Synthetic = skein.RoleSystem, true
	case "user":
		m.Role = skein.RoleUser
	case "assistant":
		m.Role, m.Provider, m.Model = skein.RoleAssistant, provider, d.model
		if text := l.data.Str("reasoning_text"); text != "" {
			m.Parts = append(m.Parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text)})
		}
	default:
		l.kind = "message"
		return []piece{note(l, "", nil)}
	}
	m.Parts = append(m.Parts, s.parts...)
	for _, v := range l.data.List("tool_calls") {
		o, _ := loose.Parse(v) // a value that is not an object has no call
		if f := o.Obj("function"); f != nil {
			call := &skein.Call{ID: o.Str("id"), Name: f.Str("name"), Input: loose.Inner(f.Get("arguments"))}
			m.Parts = append(m.Parts, skein.Part{Kind: skein.PartCall, Call: call})
		}
	}
	return []piece{{event: skein.Say(l.at, m), blobs: s.blobs}}
}

// said is the content of a message.
type said struct {
	parts []skein.Part
	blobs []skein.Blob
}

func (s said) text() string {
	var all []string
	for _, p := range s.parts {
		if p.Text != "" {
			all = append(all, string(p.Text))
		}
	}
	return strings.Join(all, "\n\n")
}

// contents reads a content: a string or a list of parts.
func contents(v jsontext.Value) (s said) {
	if text, ok := skein.Unquote(v); ok && text != "" {
		s.parts = append(s.parts, skein.TextPart(text))
	}
	for _, v := range loose.Elements(v) {
		o, err := loose.Parse(v)
		text, isText := o.Text("text")
		f, b := loose.Attach("", "", o.Obj("image_url").Str("url"))
		switch {
		case err == nil && isText:
			s.parts = append(s.parts, skein.TextPart(text))
		case f != nil:
			s.parts = append(s.parts, skein.Part{Kind: skein.PartFile, File: f})
			if b != nil {
				s.blobs = append(s.blobs, *b)
			}
		default:
			s.parts = append(s.parts, skein.Part{Kind: skein.PartOther, Raw: loose.Raw(v)})
		}
	}
	return s
}

// shown makes events of what the screen showed, if there are no messages.
func (d document) shown(l line) []piece {
	o := l.data
	text, _ := o.Text("text")
	l.kind = o.Str("type")
	switch l.kind {
	case "user":
		return []piece{say(l.at, skein.UserSays(text))}
	case "copilot":
		m := skein.Message{Role: skein.RoleAssistant, Provider: provider, Model: d.model, Parts: []skein.Part{skein.TextPart(text)}}
		return []piece{say(l.at, m)}
	case "tool_call_completed":
		id := o.Str("callId", "id")
		call := &skein.Call{ID: id, Name: o.Str("name", "toolTitle"), Input: loose.Raw(o.Get("arguments"))}
		res := &skein.Result{CallID: id, Name: call.Name, Failed: o.Obj("result").Str("type") == "failure", Text: skein.Text(o.Obj("result").Str("log"))}
		return []piece{
			say(l.at, skein.Message{Role: skein.RoleAssistant, Provider: provider, Model: d.model, Parts: []skein.Part{{Kind: skein.PartCall, Call: call}}}),
			say(l.at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}}),
		}
	}
	return []piece{note(l, "", nil)}
}

// A noteReader reads a session's title from the file beside its events.
type noteReader struct{ id string }

// Read implements [interop.Reader]; the error says that it is not a piece.
func (n noteReader) Read(in interop.Line) (m interop.Made, err error) {
	text, err := interop.Piece(in.Body)
	if err != nil {
		return m, err
	}
	fields := scalars(string(text))
	by := skein.ByModel
	title := fields["summary"]
	if name := fields["name"]; name != "" {
		title = name
		if fields["user_named"] == "true" {
			by = skein.ByPerson
		}
	}
	if title == "" {
		return m, nil
	}
	at, err := skein.ParseTime(fields["updated_at"])
	if err != nil {
		at = 0 // a wrong stamp is no reason to lose the title
	}
	e := skein.NewEvent(skein.KindTitled, at, skein.Titled{Title: title, By: by})
	m.Apart = []interop.Apart{{Of: startKey(n.id), Event: e}}
	return m, nil
}

// scalars returns the top-level scalars of a YAML document, if they are plain, quoted
// or blocks.
func scalars(text string) map[string]string {
	all := map[string]string{}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		name, value, ok := strings.Cut(strings.TrimRight(l, "\r"), ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t#-") {
			continue
		}
		value = strings.TrimSpace(value)
		if strings.HasPrefix(value, "|") || strings.HasPrefix(value, ">") {
			value = block(lines[i+1:])
		} else if s := unquoted(value); s != "" {
			value = s
		}
		if value != "null" && value != "~" {
			all[name] = skein.Text(value).UTF8()
		}
	}
	return all
}

// block returns the indented lines at the beginning, joined.
func block(lines []string) string {
	var all []string
	for _, l := range lines {
		if t := strings.TrimSpace(l); t != "" && !strings.HasPrefix(l, " ") {
			break
		} else if t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, " ")
}

func unquoted(value string) string {
	if s, ok := skein.Unquote([]byte(value)); ok {
		return s
	}
	if len(value) > 1 && value[0] == '\'' && value[len(value)-1] == '\'' {
		return strings.ReplaceAll(value[1:len(value)-1], "''", "'")
	}
	return ""
}
