package crush

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// said is a message with the bytes of its files.
type said struct {
	skein.Message
	blobs []skein.Blob
	stop  string // why it ended; "" if it has not
}

// parts reads a list of {"type","data"} as a message; anything else is one part,
// unchanged.
func (r *reader) parts(text string) said {
	s := said{Message: skein.Message{Parts: []skein.Part{}}}
	v := jsontext.Value(loose.AsJSON(text))
	if v.Kind() != '[' {
		if !loose.IsNull(v) {
			s.Parts = append(s.Parts, other(v))
		}
		return s
	}
	for _, v := range loose.Elements(v) {
		o, _ := loose.Parse(v) // a value that is not an object has no type
		if o.Str("type") == "finish" {
			s.finish(o.Obj("data"))
			continue
		}
		s.Parts = append(s.Parts, s.part(v, o.Str("type"), o.Obj("data")))
	}
	return s
}

func other(v jsontext.Value) skein.Part {
	return skein.Part{Kind: skein.PartOther, Raw: loose.Raw(v)}
}

// part converts an element; an unknown one is kept unchanged.
func (s *said) part(v jsontext.Value, kind string, data loose.Object) skein.Part {
	switch kind {
	case "text":
		if text, ok := data.Text("text"); ok {
			p := skein.TextPart(text)
			p.Synthetic = data.Yes("hidden")
			return p
		}
	case "reasoning":
		return reasoning(data)
	case "image_url":
		if f := s.attach("", "", data.Str("url")); f != nil {
			return skein.Part{Kind: skein.PartFile, File: f}
		}
	case "binary": // its names are those of the program's Go fields
		if f := s.attach(data.Str("Path", "path"), data.Str("MIMEType", "mime_type"), data.Str("Data", "data")); f != nil {
			return skein.Part{Kind: skein.PartFile, File: f}
		}
	case "tool_call":
		if id := data.Str("id"); id != "" {
			return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: data.Str("name"), Input: input(data.Get("input"))}}
		}
	case "tool_result":
		if data.Str("tool_call_id") != "" {
			return s.result(data)
		}
	case "shell_command": // in the words in which the model is sent it
		command, _ := data.Text("command")
		output, _ := data.Text("output")
		code := string(data.Get("exit_code"))
		return skein.TextPart(fmt.Sprintf("$ %s\n%s\n(exit code %s)", command, output, code))
	}
	return other(v)
}

// input returns a call's input, which is JSON in a string, or empty until the model
// has begun it.
func input(v jsontext.Value) []byte {
	if string(v) == `""` {
		return nil
	}
	return loose.Inner(v)
}

func reasoning(data loose.Object) skein.Part {
	text, _ := data.Text("thinking")
	p := skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text)}
	if data.Str("signature", "thought_signature") != "" || !loose.IsNull(data.Get("responses_data")) {
		p.Raw = loose.Raw(data.Without("thinking"))
	}
	started, _ := loose.Number(data.Get("started_at")) // 0: unknown
	finished, _ := loose.Number(data.Get("finished_at"))
	p.Start, p.End = loose.Epoch(started), loose.Epoch(finished)
	return p
}

func (s *said) attach(name, media, data string) *skein.File {
	f, blob := loose.Attach(name, media, data)
	if blob != nil {
		s.blobs = append(s.blobs, *blob)
	}
	return f
}

func (s *said) result(data loose.Object) skein.Part {
	text, _ := data.Text("content")
	res := &skein.Result{CallID: data.Str("tool_call_id"), Name: data.Str("name"), Text: skein.Text(text), Failed: data.Yes("is_error")}
	p := skein.Part{Kind: skein.PartResult, Result: res}
	if data.Str("data") != "" {
		if f := s.attach("", data.Str("mime_type"), data.Str("data")); f != nil {
			res.Files = append(res.Files, *f)
		} else {
			res.Raw = loose.Raw(data.Get("data"))
		}
	}
	if data.Str("metadata") != "" {
		p.Meta = loose.Inner(data.Get("metadata"))
	}
	return p
}

// finish reads how a message ended.
func (s *said) finish(data loose.Object) {
	s.stop = data.Str("reason")
	switch s.stop {
	case "canceled":
		s.Interrupted = true
	case "error", "content_filter":
		s.Error = &skein.ErrorInfo{Kind: s.stop, Message: data.Str("message")}
		if details := data.Str("details"); details != "" {
			s.Error.Message += ": " + details
		}
	}
}
