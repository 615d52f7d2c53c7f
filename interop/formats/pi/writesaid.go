package pi

import (
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// messages writes what was said.
type messages struct {
	*output

	calls *calls
}

// message writes a message: what was said, and then the results in it.
func (ms *messages) message(a act) {
	for _, e := range a.moved {
		ms.resultsOf(a.event, e)
	}
	m := &a.entry.Message
	switch m.Role {
	case skein.RoleAssistant:
		ms.answer(a.event, a.entry)
	case skein.RoleTool:
	default:
		ms.asked(a.event, a.entry)
	}
	ms.resultsOf(a.event, a.entry)
}

// asked writes what was said to the model.
func (ms *messages) asked(e skein.Event, en *skein.Entry) {
	m := &en.Message
	var blocks []any
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Result == nil {
			blocks = append(blocks, ms.block(en, p)...)
		}
	}
	if len(blocks) == 0 {
		return
	}
	switch {
	case m.Role == skein.RoleSystem:
		ms.losses.Add(en.Seq, "system messages: an extension's, which the model sees as the user's")
		ms.entry(e, "custom_message", customOut{systemType, blocks, false})
	case m.Synthetic:
		ms.entry(e, "custom_message", customOut{"skein", blocks, true})
	default:
		if m.Role == skein.RoleSteer {
			ms.losses.Add(en.Seq, "steering: a user's message")
		}
		ms.entry(e, "message", messageOut{userOut{"user", blocks, int64(e.Time)}})
	}
}

// answer writes what the model said.
func (ms *messages) answer(e skein.Event, en *skein.Entry) {
	m := &en.Message
	provider := or(m.Provider, ms.d.Session.Provider, "unknown")
	out := answerOut{Role: "assistant", Content: []any{}, API: apiOf(m, provider), Provider: provider, Model: or(m.Model, ms.d.Session.Model, "unknown"), Stop: "stop", Time: int64(e.Time)}
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Call != nil:
			b, called := ms.calls.callBlock(en, p.Call)
			if called {
				out.Stop = "toolUse"
			}
			out.Content = append(out.Content, b)
		case p.Result == nil:
			out.Content = append(out.Content, ms.block(en, p)...)
		}
	}
	if m.Usage != nil {
		out.Usage = usageOf(m.Usage)
	}
	ms.ended(en, &out)
	ms.entry(e, "message", messageOut{out})
}

// ended sets how an answer ended. The program hides answers that were broken off, and
// their calls, from the model.
func (ms *messages) ended(en *skein.Entry, out *answerOut) {
	m := &en.Message
	broken := ""
	switch {
	case m.Error != nil:
		broken, out.Error = "error", or(m.Error.Message, "error")
	case m.Interrupted:
		broken = "aborted"
	case m.Stop == "length" || m.Stop == "max_tokens":
		out.Stop = "length"
	}
	switch {
	case broken == "":
	case ms.own || len(out.Content) == 0:
		out.Stop = broken
	case out.Stop != "toolUse":
		out.Stop = "length"
		fallthrough
	default:
		ms.losses.Add(en.Seq, "answers that broke off: marked as cut off by length, so that the model sees them")
	}
}

// apiOf returns the API that an answer came from, by which the program knows whether
// its provider can be sent it unchanged.
func apiOf(m *skein.Message, provider string) string {
	if o, err := loose.Parse(m.Meta); err == nil && o.Str("api") != "" {
		return o.Str("api")
	}
	switch provider {
	case "anthropic":
		return "anthropic-messages"
	case "openai":
		return "openai-responses"
	case "google":
		return "google-generative-ai"
	}
	return "openai-completions"
}

func usageOf(u *skein.Usage) usageOut {
	cost := float64(u.Reported) / 1e9
	return usageOut{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Tokens(), costOut{Total: cost}}
}

// block returns the blocks of a part that is neither call nor result.
func (ms *messages) block(en *skein.Entry, p *skein.Part) []any {
	switch {
	case p.Kind == skein.PartReasoning:
		return ms.thinking(en, p)
	case p.Kind == skein.PartText || p.Kind == skein.PartSummary || p.Kind == skein.PartAgent:
		return []any{textOut{"text", p.Text}}
	case p.File != nil:
		return []any{ms.file(en, p.File)}
	case p.Call != nil: // not the model's
		b, _ := ms.calls.asText(en, p.Call)
		return []any{b}
	}
	if o, err := loose.Parse(p.Raw); err == nil && ms.own && o.Has("type") {
		return []any{p.Raw}
	}
	ms.losses.Add(en.Seq, "parts of other kinds: left out")
	return nil
}

func (ms *messages) thinking(en *skein.Entry, p *skein.Part) []any {
	out := thinkingOut{Type: "thinking", Thinking: p.Text}
	o, err := loose.Parse(p.Raw)
	sign, _ := o.Text("signature")
	data, _ := o.Text("data")
	switch kind := o.Str("type"); {
	case len(p.Raw) == 0:
	case err == nil && kind == "thinking" && sign != "":
		out.Signature = skein.Text(sign)
	case err == nil && kind == "redacted_thinking" && data != "":
		out.Signature, out.Redacted = skein.Text(data), true
	case err == nil && kind == "reasoning":
		out.Signature = skein.Text(p.Raw)
	default:
		ms.losses.Add(en.Seq, "reasoning: what only its provider can read")
		if p.Text == "" {
			return nil
		}
	}
	return []any{out}
}

// file returns a block for a file: an image unchanged, any other as text.
func (ms *messages) file(en *skein.Entry, f *skein.File) any {
	if strings.HasPrefix(f.Media, "image/") && f.Blob != "" && ms.d.Blob != nil {
		if data, err := ms.d.Blob(f.Blob); err == nil {
			return imageOut{"image", data, f.Media}
		}
	}
	ms.losses.Add(en.Seq, "files that are not pictures: their names")
	return text(fmt.Sprintf("[File %s]", or(f.Name, f.URL, f.Media, "without a name")))
}

// or returns the first that is not empty.
func or(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
