package blocks

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// A Reader reads the messages of one conversation in order: it remembers which tool a
// call was for. The zero value is ready to use.
type Reader struct {
	// NewID, if not nil, returns an ID for a call that has none. If it is nil, such
	// a call is kept unchanged.
	NewID func() string

	tools map[string]string
}

// A Content is the content of a message, with the bytes of its files.
type Content struct {
	Parts []skein.Part
	Blobs []skein.Blob
}

// Read reads the content of a message.
func (r *Reader) Read(v jsontext.Value) (c Content) {
	switch v.Kind() {
	case '"':
		c.Parts = append(c.Parts, skein.TextPart(loose.Str(v)))
	case '[':
		for _, b := range loose.Elements(v) {
			r.add(&c, b)
		}
	case '{':
		r.add(&c, v)
	}
	return c
}

func (r *Reader) add(c *Content, v jsontext.Value) {
	if s, ok := skein.Unquote(v); ok {
		c.Parts = append(c.Parts, skein.TextPart(s))
		return
	}
	b, err := loose.Parse(v)
	if err != nil {
		c.Other(v)
		return
	}
	kind, id := b.Str("type"), b.Str("id", "toolCallId")
	call := strings.HasSuffix(kind, "tool_use") || kind == "tool-call"
	if call && id == "" && r.NewID != nil {
		id = r.NewID()
	}
	text, plain := b.Text("text")
	switch {
	case kind == "text" && plain:
		c.Parts = append(c.Parts, skein.TextPart(text))
	case kind == "thinking" || kind == "reasoning" || kind == "redacted_thinking" || kind == "redacted-reasoning":
		c.Parts = append(c.Parts, reasoning(b, v))
	case call && id != "":
		c.Parts = append(c.Parts, skein.Part{Kind: skein.PartCall, Call: r.call(id, b)})
	case strings.HasSuffix(kind, "tool_result") || kind == "tool-result":
		if !r.result(c, b) {
			c.Other(v)
		}
	case kind == "image" || kind == "document" || kind == "file":
		if !c.attach(b) {
			c.Other(v)
		}
	default:
		c.Other(v)
	}
}

// Other keeps a block unchanged.
func (c *Content) Other(v jsontext.Value) {
	if raw := loose.Raw(v); raw != nil {
		c.Parts = append(c.Parts, skein.Part{Kind: skein.PartOther, Raw: raw})
	}
}

// reasoning returns a part with words, or with what only the provider can read.
func reasoning(b loose.Object, v jsontext.Value) skein.Part {
	for _, name := range []string{"thinking", "text"} {
		if s, ok := b.Text(name); ok && s != "" {
			return skein.Part{Kind: skein.PartReasoning, Text: skein.Text(s)}
		}
	}
	return skein.Part{Kind: skein.PartReasoning, Raw: loose.Raw(v)}
}

// maxTools is for how many calls a reader remembers the tool: more than ever wait for
// an answer.
const maxTools = 10000

func (r *Reader) call(id string, b loose.Object) *skein.Call {
	call := &skein.Call{ID: id, Name: b.Str("name", "toolName")}
	for _, name := range []string{"input", "args"} {
		if v := b.Get(name); !loose.IsNull(v) {
			call.Input = loose.Raw(v)
		}
	}
	r.Called(id, call.Name)
	return call
}

// Called records that the call with this ID was for this tool.
func (r *Reader) Called(id, tool string) {
	if r.tools == nil {
		r.tools = map[string]string{}
	}
	if len(r.tools) < maxTools {
		r.tools[id] = tool
	}
}

// Tool returns the tool that the call with this ID was for, which is then
// answered; "" if it is not known.
func (r *Reader) Tool(id string) string {
	name := r.tools[id]
	delete(r.tools, id)
	return name
}

// attach adds a file, and reports whether the block is one.
func (c *Content) attach(b loose.Object) bool {
	name, media := b.Str("filename", "title", "name"), b.Str("mediaType", "mimeType", "media_type")
	data := b.Str("image", "data", "url")
	if s := b.Obj("source"); s != nil {
		data, media = s.Str("data", "url"), s.Str("media_type", "mediaType")
	}
	if data == "" {
		return false
	}
	f, blob := loose.Attach(name, media, data)
	if f == nil {
		return false
	}
	if blob != nil {
		c.Blobs = append(c.Blobs, *blob)
	}
	c.Parts = append(c.Parts, skein.Part{Kind: skein.PartFile, File: f})
	return true
}

// Split returns the parts that are not results, and those that are.
func (c Content) Split() (rest, results []skein.Part) {
	rest = []skein.Part{}
	for _, p := range c.Parts {
		if p.Kind == skein.PartResult {
			results = append(results, p)
		} else {
			rest = append(rest, p)
		}
	}
	return rest, results
}

// Messages returns the messages of c: first one of the role tool with the results, if
// there are any, then m with the other parts.
func (c Content) Messages(m skein.Message) (all []skein.Message) {
	rest, results := c.Split()
	if len(results) > 0 {
		all = append(all, skein.Message{Role: skein.RoleTool, Parts: results})
	}
	if len(rest) > 0 || len(results) == 0 {
		m.Parts = rest
		all = append(all, m)
	}
	return all
}
