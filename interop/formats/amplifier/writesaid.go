package amplifier

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
)

// entry writes a message.
func (w *writer) entry(e skein.Entry) error {
	switch {
	case e.Seq <= w.known.keep && e.End > w.known.keep && !e.Rewound:
		w.losses.Add(e.Seq, "end of a message whose beginning was written: left out")
		return nil
	case e.Rewound:
		if e.Seq > w.d.After {
			w.losses.Add(e.Seq, "rewound message: left out")
		}
		return nil
	case e.Seq <= w.known.keep:
		if w.d.WentBack() { // otherwise Amplifier repairs what its own turns left
			w.calls.there(e)
		}
		return nil
	}
	if m := e.Message; m.Role == skein.RoleUser || m.Role == skein.RoleAssistant {
		w.calls.interrupted(e)
	}
	switch m := e.Message; m.Role {
	case skein.RoleSystem:
		w.losses.Add(e.Seq, "system message: left out, Amplifier makes its own")
	case skein.RoleTool:
		w.messages.results(e)
	case skein.RoleAssistant:
		w.messages.answer(e)
	default:
		if m.Role == skein.RoleSteer {
			w.losses.Add(e.Seq, "steer: written as a user's message")
		}
		return w.messages.asked(e)
	}
	return nil
}

// messages adds to the transcript what was said.
type messages struct {
	*output

	log   *log
	calls *calls
}

// say adds a line to the transcript, with its time.
func (ms *messages) say(e skein.Entry, b *builder, source string) {
	b.object("metadata", func(b *builder) {
		if e.Time != 0 {
			b.str("timestamp", stamp(e.Time))
		}
		b.opt("source", source)
	})
	ms.said = append(ms.said, line{b.rope(), e.End})
}

// asked writes a user's message. Only a user's own prompt is in the log.
func (ms *messages) asked(e skein.Entry) error {
	b := (&builder{}).str("role", "user")
	if err := ms.content(e, b); err != nil {
		return err
	}
	source := ""
	if e.Message.Synthetic {
		source = "hook"
	}
	ms.turns++
	if ms.say(e, b, source); source == "" {
		ms.log.add(e.Seq, e.Time, "prompt:submit", func(b *builder) { b.str("prompt", e.Message.Words()) })
	}
	return nil
}

// content adds the content of a user's message: a string if it is one text.
func (ms *messages) content(e skein.Entry, b *builder) error {
	parts := e.Message.Parts
	if len(parts) == 1 && parts[0].Kind == skein.PartText { // it may be long
		b.str("content", string(parts[0].Text))
		return nil
	}
	var blocks [][]byte
	text, only := "", true
	for _, p := range parts {
		block, err := ms.block(e, p)
		if err != nil {
			return err
		}
		if block == nil {
			continue
		}
		blocks = append(blocks, block)
		if only = len(blocks) == 1 && p.Kind == skein.PartText; only {
			text = string(p.Text)
		}
	}
	if only || len(blocks) == 0 {
		b.str("content", text)
	} else {
		b.put("content", list(blocks))
	}
	return nil
}

func list(values [][]byte) []byte {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ", "...)
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// block returns a part as a block, nil for none.
func (ms *messages) block(e skein.Entry, p skein.Part) ([]byte, error) {
	text := func(s string) []byte { return (&builder{}).str("type", "text").str("text", s).value() }
	switch p.Kind {
	case skein.PartText, skein.PartSummary:
		return text(string(p.Text)), nil
	case skein.PartAgent:
		return text("@" + string(p.Text)), nil
	case skein.PartFile:
		return ms.file(e, p.File)
	case skein.PartCall:
		return (&builder{}).str("type", "tool_call").str("id", p.Call.ID).str("name", p.Call.Name).put("input", input(p.Call)).value(), nil
	case skein.PartOther, skein.PartReasoning:
		if ms.ours() && jsontext.Value(p.Raw).Kind() == '{' {
			return appendValue(nil, jsontext.Value(p.Raw)), nil
		}
	}
	ms.losses.Add(e.Seq, string(p.Kind)+": left out")
	return nil, nil
}

// ours reports whether the session came from Amplifier, so that it knows its
// own blocks.
func (out *output) ours() bool {
	o := out.d.Session.Origin
	return o != nil && o.Format == Name
}

// file returns an image as a block; for other files, only the name.
func (ms *messages) file(e skein.Entry, f *skein.File) ([]byte, error) {
	source := (&builder{}).str("type", "base64").str("media_type", f.Media)
	switch {
	case !strings.HasPrefix(f.Media, "image/") && f.URL == "" || f.Blob == "" && f.URL == "":
		ms.losses.Add(e.Seq, "file: only its name is written")
		return (&builder{}).str("type", "text").str("text", "[file "+or(f.Name, f.Media)+"]").value(), nil
	case f.Blob == "":
		source = (&builder{}).str("type", "url").str("url", f.URL)
	default:
		data, err := ms.d.Blob(f.Blob)
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		source.str("data", base64.StdEncoding.EncodeToString(data))
	}
	return (&builder{}).str("type", "image").put("source", source.value()).value(), nil
}

// input returns the arguments of a call as an object, whatever they were.
func input(c *skein.Call) []byte {
	switch jsontext.Value(c.Input).Kind() {
	case '{':
		return c.Input
	case 0, 'n':
		return []byte("{}")
	}
	return (&builder{}).put("input", c.Input).value()
}

// answer writes an assistant's message: as a string if it has only text and calls,
// which are written beside it; else in blocks.
func (ms *messages) answer(e skein.Entry) {
	var blocks, calls [][]byte
	var texts, thoughts []string
	plain := true
	ms.log.charge(e)
	for _, p := range e.Message.Parts {
		if p.Call != nil {
			c := (&builder{}).str("id", p.Call.ID).str("tool", p.Call.Name).put("arguments", input(p.Call))
			calls = append(calls, c.value())
			ms.calls.open = append(ms.calls.open, *p.Call)
			ms.log.add(e.Seq, e.Time, "tool:pre", func(b *builder) {
				b.str("tool_name", p.Call.Name).str("tool_call_id", p.Call.ID).put("tool_input", input(p.Call))
			})
		}
		if p.Kind == skein.PartReasoning && (!ms.ours() || p.Raw == nil) {
			thoughts = append(thoughts, string(p.Text))
			continue
		}
		if block, _ := ms.block(e, p); block != nil { // an answer has no files whose bytes could be missing
			blocks = append(blocks, block)
		}
		if p.Kind == skein.PartText {
			texts, plain = append(texts, string(p.Text)), plain && len(calls) == 0
		} else {
			plain = plain && p.Call != nil
		}
	}
	b := (&builder{}).str("role", "assistant")
	if plain && len(texts) <= 1 {
		b.str("content", strings.Join(texts, ""))
	} else {
		b.put("content", list(blocks))
	}
	if len(calls) > 0 {
		b.put("tool_calls", list(calls))
	}
	if len(thoughts) > 0 {
		b.str("thinking_text", strings.Join(thoughts, "\n\n"))
	}
	ms.say(e, b, "")
}
