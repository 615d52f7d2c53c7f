package pi

import (
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// message makes the events of a message, by its role.
func (r *reader) message(m *making) {
	o := m.Obj("message")
	switch role := o.Str("role"); role {
	case "user":
		parts := m.parts(o.Get("content"), "")
		for _, a := range o.List("attachments") {
			parts = append(parts, m.attachment(a))
		}
		r.say(m, skein.Message{Role: skein.RoleUser, Parts: parts})
	case "assistant":
		r.answer(m, o)
	case "toolResult":
		r.result(m, o)
	case "system", "developer":
		r.say(m, skein.Message{Role: skein.RoleSystem, Parts: m.parts(o.Get("content"), "")})
	case "custom", "hookMessage":
		r.custom(m, o)
	case "bashExecution":
		r.ran(m, o, "!", "command")
	case "pythonExecution":
		r.ran(m, o, "$", "code")
	case "branchSummary", "compactionSummary":
		r.summary(m, o.Str("summary"), role)
	case "fileMention":
		r.files(m, o)
	default:
		r.note(m, "message/"+role)
	}
}

func (r *reader) say(m *making, said skein.Message) {
	if said.Parts == nil {
		said.Parts = []skein.Part{}
	}
	r.add(m, skein.Say(m.time, said))
}

// answer makes one of the model's messages.
func (r *reader) answer(m *making, o loose.Object) {
	said := skein.Message{
		Role: skein.RoleAssistant, Provider: o.Str("provider"), Model: o.Str("responseModel", "model"), Request: request(o),
		Stop: o.Str("stopReason"), Usage: usage(o.Obj("usage")), Parts: m.parts(o.Get("content"), o.Str("api")),
	}
	switch said.Stop {
	case "aborted":
		said.Interrupted = true
	case "error":
		said.Error = &skein.ErrorInfo{Message: o.Str("errorMessage")}
	}
	if api := o.Str("api"); api != "" {
		said.Meta = skein.MustJSON(map[string]string{"api": api})
	}
	r.say(m, said)
}

// request returns the name of the paid request that o answers. A copy in a fork has the same.
func request(o loose.Object) string {
	return loose.Request(o.Str("responseId"), string(o.Get("timestamp")))
}

// maxDetails is the maximum length of a result's details that are copied: enough for
// the changes of an edit, but not for a listing of all files. Longer ones stay in the
// record only.
const maxDetails = 16 << 10

// result makes a message of what a tool answered.
func (r *reader) result(m *making, o loose.Object) {
	res := &skein.Result{CallID: o.Str("toolCallId"), Name: o.Str("toolName"), Failed: o.Yes("isError")}
	var texts []string
	for _, p := range m.parts(o.Get("content"), "") {
		switch p.Kind {
		case skein.PartText:
			texts = append(texts, string(p.Text))
		case skein.PartFile:
			res.Files = append(res.Files, *p.File)
		default:
			res.Raw = raw(o.Get("content"))
		}
	}
	res.Text = skein.Text(strings.Join(texts, "\n"))
	said := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: res}}}
	if d := o.Get("details"); d.Kind() == '{' && len(d) > 2 && len(d) <= maxDetails {
		said.Meta = append(append([]byte(`{"details":`), d...), '}')
	}
	r.say(m, said)
	r.spent(m, o, "tool")
}

// custom makes a message of what an extension inserted into the conversation. The
// model sees it as the user's.
func (r *reader) custom(m *making, o loose.Object) {
	kind := o.Str("customType")
	said := skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: m.parts(o.Get("content"), "")}
	if kind == systemType {
		said.Role, said.Synthetic = skein.RoleSystem, false
	} else {
		said.Meta = skein.MustJSON(struct {
			Type    string `json:"custom_type"`
			Display bool   `json:"display"`
		}{kind, o.Yes("display")})
	}
	r.say(m, said)
}

// ran makes a message of a command that the user ran beside the agent: what was
// typed, and its output. One hidden from the model is noted.
func (r *reader) ran(m *making, o loose.Object, mark, what string) {
	if o.Yes("excludeFromContext") {
		r.note(m, "message/"+o.Str("role"))
		return
	}
	typed, _ := o.Text(what)
	out, _ := o.Text("output")
	said := skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{{Kind: skein.PartText, Text: skein.Text(mark + typed)}}}
	if out != "" {
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartText, Text: skein.Text(out)})
	}
	said.Meta = []byte(o.Without(what, "output", "timestamp"))
	r.say(m, said)
}

// files makes a message of files that the user named in a prompt.
func (r *reader) files(m *making, o loose.Object) {
	said := skein.Message{Role: skein.RoleUser, Synthetic: true}
	for _, v := range o.List("files") {
		f, err := loose.Parse(v)
		if err != nil {
			continue
		}
		text, _ := f.Text("content")
		said.Parts = append(said.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Name: loose.Clip(f.Str("path"))}})
		if text != "" {
			said.Parts = append(said.Parts, skein.Part{Kind: skein.PartText, Text: skein.Text(text)})
		}
	}
	r.say(m, said)
}
