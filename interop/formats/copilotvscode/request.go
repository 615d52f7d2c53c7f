package copilotvscode

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A piece is an event with the blobs that it names.
type piece struct {
	event skein.Event
	blobs []skein.Blob
}

// A request is a prompt and everything that followed it.
type request struct {
	o    loose.Object
	at   skein.Time
	base skein.Message // what the model's messages have in common
	ps   []piece
	said int // index of the model's last message in ps, -1 for none
}

// pieces returns the events of a request.
func pieces(o loose.Object) []piece {
	r := &request{o: o, at: loose.Millis(o.Get("timestamp")), said: -1}
	r.base = skein.Message{Role: skein.RoleAssistant}
	r.base.Provider, r.base.Model = model(o.Str("modelId"))
	r.ask()
	result := o.Obj("result")
	if rounds := result.Obj("metadata").List("toolCallRounds"); len(rounds) > 0 {
		r.rounds(rounds, result.Obj("metadata").Obj("toolCallResults"))
	} else {
		r.response(o.List("response"))
	}
	r.end(result)
	return r.ps
}

// model splits a model's ID: the provider, a slash, the model's name.
func model(id string) (provider, name string) {
	provider, name, ok := strings.Cut(id, "/")
	switch {
	case !ok:
		return "github-copilot", id
	case provider == "copilot":
		return "github-copilot", name
	}
	return provider, name
}

func (r *request) add(m skein.Message, blobs ...skein.Blob) {
	if m.Role == skein.RoleAssistant {
		r.said = len(r.ps)
	}
	r.ps = append(r.ps, piece{skein.Say(r.at, m), blobs})
}

// ask makes the user's message.
func (r *request) ask() {
	m := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{}}
	text, _ := r.o.Obj("message").Text("text")
	if s, ok := r.o.Text("message"); ok {
		text = s
	}
	m.Parts = append(m.Parts, skein.TextPart(text))
	var blobs []skein.Blob
	for _, v := range r.o.Obj("variableData").List("variables") {
		p, b := variable(v)
		m.Parts = append(m.Parts, p)
		if b != nil {
			blobs = append(blobs, *b)
		}
	}
	r.add(m, blobs...)
}

// variable reads what was attached to a message.
func variable(v jsontext.Value) (skein.Part, *skein.Blob) {
	o, err := loose.Parse(v)
	value := o.Obj("value")
	if data := value.Str("$base64"); err == nil && data != "" {
		if f, b := loose.Attach(o.Str("name"), o.Str("mimeType"), data); f != nil {
			return skein.Part{Kind: skein.PartFile, File: f}, b
		}
	}
	at := value
	if uri := value.Obj("uri"); uri != nil {
		at = uri
	}
	name := loose.Clip(at.Str("fsPath", "path"))
	if err != nil || name == "" {
		return skein.Part{Kind: skein.PartOther, Raw: loose.Raw(v)}, nil
	}
	lines := value.Obj("range")
	f := &skein.File{Name: name, First: int(lines.Count("startLineNumber")), Last: int(lines.Count("endLineNumber"))}
	return skein.Part{Kind: skein.PartFile, File: f}, nil
}

// rounds makes the model's messages and the tools' results, round by round.
func (r *request) rounds(rounds []jsontext.Value, results loose.Object) {
	calls := false
	for _, v := range rounds {
		o, err := loose.Parse(v)
		if err != nil {
			continue
		}
		m := r.base
		text, _ := o.Text("response")
		thought := texts(o.Obj("thinking").Get("text"))
		m.Parts = spoken(thought, text)
		var answers []skein.Part
		for _, c := range o.List("toolCalls") {
			call, _ := loose.Parse(c) // a value that is not an object has no call
			id := call.Str("id")
			if id == "" {
				continue
			}
			m.Parts = append(m.Parts, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: call.Str("name"), Input: loose.Inner(call.Get("arguments"))}})
			if answer := results.Get(id); answer != nil {
				answers = append(answers, skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Name: call.Str("name"), Text: skein.Text(answered(answer))}})
			}
		}
		if calls = len(answers) > 0; len(m.Parts) > 0 {
			r.add(m)
		}
		if calls {
			r.add(skein.Message{Role: skein.RoleTool, Parts: answers})
		}
	}
	if calls { // the rounds have no final answer
		list := r.o.List("response")
		last := 0
		for i, v := range list {
			if o, err := loose.Parse(v); err == nil && o.Str("kind") == invocation {
				last = i + 1
			}
		}
		r.response(list[last:])
	}
}

// spoken returns the parts of what a model thought and said.
func spoken(thought, text string) []skein.Part {
	parts := []skein.Part{}
	if thought != "" {
		parts = append(parts, skein.Part{Kind: skein.PartReasoning, Text: skein.Text(thought)})
	}
	if text != "" {
		parts = append(parts, skein.TextPart(text))
	}
	return parts
}

// texts returns a string, or the strings of a list.
func texts(v jsontext.Value) string {
	if s, ok := skein.Unquote(v); ok {
		return s
	}
	var all []string
	for _, e := range loose.Elements(v) {
		all = append(all, loose.Str(e))
	}
	return strings.Join(all, "")
}

// end adds the request's usage and how it ended.
func (r *request) end(result loose.Object) {
	if r.o.Yes("isCanceled") && r.said >= 0 {
		m, err := skein.Decode[skein.Message](r.ps[r.said].event)
		if err == nil { // always: it was built here
			m.Interrupted = true
			r.ps[r.said].event = skein.Say(r.at, m)
		}
	}
	step := skein.Step{Phase: "finish", Provider: r.base.Provider, Model: r.base.Model}
	for _, o := range []loose.Object{result.Obj("usage"), result.Obj("metadata")} {
		u := skein.Usage{Input: o.Count("promptTokens"), Output: o.Count("completionTokens", "outputTokens")}
		if u != (skein.Usage{}) {
			step.Usage = &u
			step.Request = "vs:" + r.o.Str("requestId")
			break
		}
	}
	if e := result.Obj("errorDetails"); e != nil {
		step.Error = &skein.ErrorInfo{Kind: e.Str("code"), Message: e.Str("message")}
	}
	if step.Usage != nil || step.Error != nil {
		r.ps = append(r.ps, piece{event: skein.NewEvent(skein.KindStep, r.at, step)})
	}
	if rest := loose.Raw(result.Without("metadata", "errorDetails", "usage")); len(rest) > len("{}") {
		r.ps = append(r.ps, piece{event: skein.NewEvent(skein.KindNoted, r.at, skein.Noted{Name: "copilot-vscode:result", Data: rest})})
	}
}
