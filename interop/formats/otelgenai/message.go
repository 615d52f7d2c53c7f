package otelgenai

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// said is a message with its blobs, and a hash of each part by which a repetition is
// recognized.
type said struct {
	msg   skein.Message
	blobs []skein.Blob
	marks []string
}

// messageOf reads {"role","parts","name","finish_reason"}.
func messageOf(v jsontext.Value) (s said, ok bool) {
	o, err := loose.Parse(v)
	if err != nil || o.Str("role") == "" && !o.Has("parts") {
		return s, false
	}
	s.msg.Parts = []skein.Part{}
	switch role := o.Str("role"); role {
	case "assistant", "model":
		s.msg.Role = skein.RoleAssistant
	case "tool", "function":
		s.msg.Role = skein.RoleTool
	case "system", "developer":
		s.msg.Role = skein.RoleSystem
	default:
		s.msg.Role = skein.RoleUser
	}
	s.msg.Stop = o.Str("finish_reason")
	if own := o.Obj("skein"); own != nil {
		if own.Str("role") == string(skein.RoleSteer) {
			s.msg.Role = skein.RoleSteer
		}
		s.msg.Synthetic, s.msg.Interrupted = own.Yes("synthetic"), own.Yes("interrupted")
	}
	for _, p := range o.List("parts") {
		s.part(p)
	}
	if meta := loose.Raw(o.Without("role", "parts", "finish_reason", "skein")); len(meta) > len("{}") {
		s.msg.Meta = meta
	}
	return s, true
}

// part reads a part.
func (s *said) part(v jsontext.Value) {
	o, err := loose.Parse(v)
	if err != nil {
		if text, ok := skein.Unquote(v); ok {
			s.add(skein.TextPart(text), text)
		}
		return
	}
	text, _ := o.Text("content")
	switch o.Str("type") {
	case "text":
		s.add(skein.TextPart(text), text)
	case "reasoning":
		s.add(skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text)}, text)
	case "tool_call":
		c := &skein.Call{ID: o.Str("id"), Name: o.Str("name"), Input: loose.Inner(o.Get("arguments"))}
		s.add(skein.Part{Kind: skein.PartCall, Call: c}, c.ID+"\x00"+c.Name)
	case "tool_call_response":
		s.result(o)
	case "blob":
		s.file(o, v, text)
	case "uri":
		s.file(o, v, o.Str("uri"))
	case "file":
		f := &skein.File{Name: loose.Clip(o.Str("file_id")), Media: loose.Clip(o.Str("mime_type"))}
		s.add(skein.Part{Kind: skein.PartFile, File: f, Meta: loose.Raw(o.Without("mime_type"))}, f.Name)
	default:
		if raw := loose.Raw(v); raw != nil {
			s.add(skein.Part{Kind: skein.PartOther, Raw: raw}, canonical(raw))
		}
	}
}

func (s *said) add(p skein.Part, content string) {
	s.msg.Parts = append(s.msg.Parts, p)
	mark := string(p.Kind) + "\x00" + content
	if p.Kind != skein.PartResult { // a result belongs to its call, whoever says it
		mark = string(s.msg.Role) + "\x00" + mark
	}
	s.marks = append(s.marks, hash(mark))
}

// result reads a tool's result: a string, or any value.
func (s *said) result(o loose.Object) {
	v := o.Get("response")
	if v == nil {
		v = o.Get("result") // in early versions
	}
	s.add(resultOf(o.Str("id"), v, o.Yes("is_error")), o.Str("id"))
}

func resultOf(id string, v jsontext.Value, failed bool) skein.Part {
	r := &skein.Result{CallID: id, Failed: failed}
	if text, ok := skein.Unquote(v); ok {
		r.Text = skein.Text(text)
	} else if raw := loose.Raw(v); raw != nil {
		r.Raw, r.Text = raw, skein.Text(raw)
	}
	return skein.Part{Kind: skein.PartResult, Result: r}
}

func (s *said) file(o loose.Object, v jsontext.Value, data string) {
	if o.Str("type") == "uri" && !strings.Contains(data, "://") && !strings.HasPrefix(data, "data:") {
		data = "uri://" + data
	}
	f, blob := loose.Attach("", o.Str("mime_type"), data)
	if f == nil {
		if raw := loose.Raw(v); raw != nil {
			s.add(skein.Part{Kind: skein.PartOther, Raw: raw}, canonical(raw))
		}
		return
	}
	if blob != nil {
		s.blobs = append(s.blobs, *blob)
	}
	s.add(skein.Part{Kind: skein.PartFile, File: f}, fmt.Sprint(f.URL, f.Blob))
}

// canonical returns JSON in a canonical spelling, because a part can be text in one
// place and OTLP values in another.
func canonical(raw json.RawMessage) string {
	v := jsontext.Value(bytes.Clone(raw))
	if v.Canonicalize() != nil {
		return string(raw)
	}
	return string(v)
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return string(sum[:12])
}

// short returns 16 hexadecimal digits of name's hash.
func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// base64Of returns bytes as a blob part has them.
func base64Of(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
