package pi

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// parts returns the parts of a content: a string, or blocks. api is the API that an
// answer came from.
func (m *making) parts(content jsontext.Value, api string) (parts []skein.Part) {
	if s, ok := skein.Unquote(content); ok {
		return []skein.Part{skein.TextPart(s)}
	}
	blocks := loose.Elements(content)
	for _, v := range blocks {
		parts = append(parts, m.part(v, api))
	}
	if len(blocks) == 0 && !loose.IsNull(content) && content.Kind() != '[' {
		parts = append(parts, other(content))
	}
	return parts
}

func (m *making) part(v jsontext.Value, api string) skein.Part {
	o, _ := loose.Parse(v) // a value that is not an object has no type
	switch o.Str("type") {
	case "text":
		if text, ok := o.Text("text"); ok {
			return skein.TextPart(text)
		}
	case "thinking":
		return thinking(o, api)
	case "toolCall":
		if id := o.Str("id"); id != "" {
			return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: o.Str("name"), Input: raw(o.Get("arguments"))}}
		}
	case "image":
		if f := m.image(o.Str("mimeType"), loose.Str(o.Get("data"))); f != nil {
			return skein.Part{Kind: skein.PartFile, File: f}
		}
	}
	return other(v)
}

func other(v jsontext.Value) skein.Part {
	return skein.Part{Kind: skein.PartOther, Raw: []byte(v)}
}

// thinking returns a part of reasoning. The signature becomes the item that the
// provider expects back, if its form is known.
func thinking(o loose.Object, api string) skein.Part {
	text, _ := o.Text("thinking")
	sign, _ := o.Text("thinkingSignature")
	p := skein.Part{Kind: skein.PartReasoning, Text: skein.Text(text)}
	switch {
	case sign == "":
	case strings.Contains(api, "responses"):
		if loose.Fits(sign) && strings.HasPrefix(sign, "{") {
			p.Raw = []byte(sign)
		}
	case strings.HasPrefix(api, "anthropic") && o.Yes("redacted"):
		p.Text, p.Raw = "", skein.MustJSON(redactedOut{"redacted_thinking", skein.Text(sign)})
	case strings.HasPrefix(api, "anthropic"):
		p.Raw = skein.MustJSON(signedOut{"thinking", skein.Text(text), skein.Text(sign)})
	}
	return p
}

// Reasoning in the form that Anthropic expects back.
type (
	signedOut struct {
		Type      string     `json:"type"`
		Thinking  skein.Text `json:"thinking"`
		Signature skein.Text `json:"signature"`
	}
	redactedOut struct {
		Type string     `json:"type"`
		Data skein.Text `json:"data"`
	}
)

// blobMark is the prefix of a reference to an image that Oh My Pi stores in a
// separate file, named by the SHA-256 of its bytes.
const blobMark = "blob:sha256:"

// image returns an image as a file, its bytes as a blob; nil if it is not one.
func (m *making) image(media, data string) *skein.File {
	hash, apart := strings.CutPrefix(data, blobMark)
	if !apart {
		return m.keep(loose.Attach("", media, data))
	}
	f := &skein.File{Media: loose.Clip(media), URL: loose.Clip(data)}
	if len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" || m.beside == nil {
		return f
	}
	for _, dir := range []string{"../../blobs/", "../../../blobs/"} { // of a session, of a sub-agent
		if b, ok := m.beside(dir + hash); ok {
			if blob := skein.NewBlob(b); string(blob.Hash) == hash {
				m.blobs = append(m.blobs, blob)
				return &skein.File{Media: f.Media, Blob: blob.Hash, Size: int64(len(b))}
			}
		}
	}
	return f
}

func (m *making) keep(f *skein.File, b *skein.Blob) *skein.File {
	if b != nil {
		m.blobs = append(m.blobs, *b)
	}
	return f
}

// attachment returns a file that was sent with a prompt.
func (m *making) attachment(v jsontext.Value) skein.Part {
	o, _ := loose.Parse(v)
	if f := m.keep(loose.Attach(o.Str("fileName"), o.Str("mimeType"), loose.Str(o.Get("content")))); f != nil {
		return skein.Part{Kind: skein.PartFile, File: f}
	}
	return other(v)
}
