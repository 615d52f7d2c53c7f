package agsh

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// made is a message with the bytes of its files.
type made struct {
	skein.Message
	blobs []skein.Blob
}

// A block is a piece of a message's content.
type block struct {
	Type      jsontext.Value `json:"type"`
	Text      jsontext.Value `json:"text"`
	ID        jsontext.Value `json:"id"`
	Name      jsontext.Value `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID jsontext.Value `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"`
	IsError   jsontext.Value `json:"is_error"`
	Thinking  jsontext.Value `json:"thinking"`
	Source    struct {
		Media jsontext.Value `json:"media_type"`
		Data  jsontext.Value `json:"data"`
		URL   jsontext.Value `json:"url"`
	} `json:"source"`
}

// blocks reads an array of blocks as a message; anything else is one text.
func (r *reader) blocks(role skein.Role, content string) made {
	said := made{Message: skein.Message{Role: role, Parts: []skein.Part{}}}
	vs, ok := list(content)
	if !ok {
		said.Parts = append(said.Parts, skein.TextPart(content))
		return said
	}
	for _, v := range vs {
		said.Parts = append(said.Parts, r.part(&said, v))
	}
	return said
}

// wire reads {"role","content"} as a message. One that has only results is said by
// the tools.
func (r *reader) wire(v jsontext.Value) made {
	var in struct {
		Role    jsontext.Value `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	if v.Kind() == '"' {
		return made{Message: skein.Message{Role: skein.RoleUser, Parts: []skein.Part{skein.TextPart(loose.Str(v))}}}
	}
	if v.Kind() != '{' || jsonv2.Unmarshal(v, &in, loose.Options()) != nil {
		return made{Message: skein.Message{Role: skein.RoleUser, Parts: []skein.Part{other(v)}}}
	}
	role := skein.RoleUser
	if loose.Str(in.Role) == "assistant" {
		role = skein.RoleAssistant
	}
	if in.Content.Kind() != '[' {
		return made{Message: skein.Message{Role: role, Parts: []skein.Part{skein.TextPart(loose.Str(in.Content))}}}
	}
	said := r.blocks(role, string(in.Content))
	results := 0
	for _, p := range said.Parts {
		if p.Result != nil {
			results++
		}
	}
	if results > 0 && results == len(said.Parts) {
		said.Role = skein.RoleTool
	}
	return said
}

func other(v jsontext.Value) skein.Part {
	return skein.Part{Kind: skein.PartOther, Raw: json.RawMessage(v)}
}

// part converts a block; an unknown one is kept unchanged.
func (r *reader) part(said *made, v jsontext.Value) skein.Part {
	var b block
	if v.Kind() != '{' || jsonv2.Unmarshal(v, &b, loose.Options()) != nil {
		return other(v)
	}
	switch kind := loose.Str(b.Type); {
	case kind == "text":
		return skein.TextPart(loose.Str(b.Text))
	case kind == "thinking":
		return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(loose.Str(b.Thinking)), Raw: json.RawMessage(v)}
	case kind == "redacted_thinking":
		return skein.Part{Kind: skein.PartReasoning, Raw: json.RawMessage(v)}
	case kind == "tool_use" && loose.Str(b.ID) != "":
		if len(r.tools) < maxTools {
			r.tools[loose.Str(b.ID)] = loose.Str(b.Name)
		}
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: loose.Str(b.ID), Name: loose.Str(b.Name), Input: json.RawMessage(b.Input)}}
	case kind == "tool_result" && loose.Str(b.ToolUseID) != "":
		return r.result(said, &b)
	case kind == "image":
		if f := said.file(&b); f != nil {
			return skein.Part{Kind: skein.PartFile, File: f}
		}
	}
	return other(v)
}

// maxTools is the number of calls whose tool a reader remembers: more than ever wait
// for an answer.
const maxTools = 10000

// result returns a tool's result: its texts joined, files, and the unchanged content
// if it has anything else.
func (r *reader) result(said *made, b *block) skein.Part {
	id := loose.Str(b.ToolUseID)
	res := &skein.Result{CallID: id, Name: r.tools[id], Failed: b.IsError.Kind() == 't'}
	delete(r.tools, id)
	p := skein.Part{Kind: skein.PartResult, Result: res}
	if b.Content.Kind() == '"' {
		res.Text = skein.Text(loose.Str(b.Content))
		return p
	}
	vs, ok := list(string(b.Content))
	if !ok {
		res.Raw = json.RawMessage(b.Content)
		return p
	}
	var texts []string
	for _, v := range vs {
		var c block
		if v.Kind() == '{' && jsonv2.Unmarshal(v, &c, loose.Options()) == nil {
			if loose.Str(c.Type) == "text" {
				texts = append(texts, loose.Str(c.Text))
				continue
			}
			if f := said.file(&c); f != nil {
				res.Files = append(res.Files, *f)
				continue
			}
		}
		res.Raw = json.RawMessage(b.Content)
	}
	res.Text = skein.Text(strings.Join(texts, "\n"))
	return p
}

// file returns a block as an image, its bytes as a blob of the message; nil if it is
// not one.
func (m *made) file(b *block) *skein.File {
	f := &skein.File{Media: loose.Str(b.Source.Media)}
	if len(f.Media) > 200 {
		return nil
	}
	if url := loose.Str(b.Source.URL); url != "" && len(url) < 8192 {
		f.URL = url
		return f
	}
	data, err := base64.StdEncoding.DecodeString(loose.Str(b.Source.Data))
	if err != nil || len(data) == 0 {
		return nil
	}
	blob := skein.NewBlob(data)
	m.blobs = append(m.blobs, blob)
	f.Blob, f.Size = blob.Hash, int64(len(data))
	return f
}
