package claudecode

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skein-dev/skein"
)

// A blockOut is a block of a message's content.
type blockOut struct {
	body json.RawMessage // nil for a text block
	text *string         // of a text block
	call *callOut        // of a call
}

// MarshalJSON implements [json.Marshaler].
func (b blockOut) MarshalJSON() ([]byte, error) {
	if b.text == nil {
		return b.body, nil
	}
	return skein.MustJSON(b.textOut()), nil
}

// MarshalJSONTo implements [json.MarshalerTo]: a long text is not copied, see
// [interop.JSON]. Errors are enc's.
func (b blockOut) MarshalJSONTo(enc *jsontext.Encoder) error {
	if b.text == nil {
		return enc.WriteValue(jsontext.Value(b.body))
	}
	return jsonv2.MarshalEncode(enc, b.textOut())
}

func (b blockOut) textOut() any {
	return struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", *b.text}
}

func textBlock(text string) blockOut { return blockOut{text: &text} }

// content returns blocks as the content of a message: one text as a string.
func content(blocks []blockOut) any {
	if len(blocks) == 1 && blocks[0].text != nil {
		return *blocks[0].text
	}
	return blocks
}

// grows reports whether one of the texts begins with an earlier one: a reader of
// several lines would take it for the same text, grown.
func grows(blocks []blockOut) bool {
	for i, b := range blocks {
		if b.text == nil {
			continue
		}
		if slices.ContainsFunc(blocks[:i], func(a blockOut) bool { return a.text != nil && strings.HasPrefix(*b.text, *a.text) }) {
			return true
		}
	}
	return false
}

// messages writes what was said.
type messages struct {
	*output

	ours bool // the session is Claude Code's own
}

// block returns a part as blocks; none if its bytes are not available.
func (ms *messages) block(e *skein.Entry, p *skein.Part) ([]blockOut, error) {
	switch {
	case p.Kind == skein.PartText || p.Kind == skein.PartSummary:
		return ms.text(e, p), nil
	case p.Kind == skein.PartReasoning:
		if o := parseObject(p.Raw); o != nil && e.Message.Provider == "anthropic" && (o.Str("signature") != "" || o.Str("type") == "redacted_thinking") {
			return []blockOut{{body: p.Raw}}, nil
		}
		ms.lose(e, "reasoning without Anthropic's signature: left out")
		return nil, nil
	case p.Kind == skein.PartFile && p.File != nil:
		return ms.file(e, p.File)
	case p.Kind == skein.PartAgent:
		ms.lose(e, "agents that were mentioned: as text")
		return []blockOut{textBlock("@" + p.Text.UTF8())}, nil
	case p.Kind == skein.PartOther && ms.ours && len(p.Raw) > 0:
		return []blockOut{{body: p.Raw}}, nil
	}
	ms.lose(e, "parts of other kinds: left out")
	return nil, nil
}

func (ms *messages) text(e *skein.Entry, p *skein.Part) []blockOut {
	text := p.Text.UTF8()
	if text != string(p.Text) {
		ms.lose(e, "invalid Unicode: replaced")
	}
	if strings.TrimSpace(text) == "" {
		ms.lose(e, "blank texts: left out")
		return nil
	}
	return []blockOut{textBlock(text)}
}

// The largest files that the provider accepts, in bytes: base64 makes them a third
// longer.
const (
	maxImage    = 5 << 20 / 4 * 3
	maxDocument = 16 << 20
)

// file returns a file as the provider accepts it, or its description.
func (ms *messages) file(e *skein.Entry, f *skein.File) ([]blockOut, error) {
	kind, limit := "document", int64(maxDocument)
	switch f.Media {
	case "image/jpeg", "image/png", "image/gif", "image/webp":
		kind, limit = "image", maxImage
	case "application/pdf", "text/plain":
	default:
		kind = ""
	}
	if kind == "" || f.Blob == "" || f.Size > limit {
		ms.lose(e, "files that Claude Code does not accept: as text")
		return []blockOut{textBlock(describe(f))}, nil
	}
	source := sourceOut{Type: "base64", Media: f.Media}
	if e.End > ms.keep { // otherwise the file has it
		data, err := ms.d.Blob(f.Blob)
		if err != nil {
			return nil, fmt.Errorf("file %q of event %d: %w", f.Name, e.Seq, err)
		}
		source.Data = base64.StdEncoding.EncodeToString(data)
		if f.Media == "text/plain" {
			source.Type, source.Data = "text", skein.Text(data).UTF8()
		}
	}
	out := struct {
		Type   string    `json:"type"`
		Source sourceOut `json:"source"`
		Title  string    `json:"title,omitempty"`
	}{kind, source, ""}
	if kind == "document" {
		out.Title = f.Name
	} else if f.Name != "" {
		ms.lose(e, "names of images")
	}
	return []blockOut{{body: skein.MustJSON(out)}}, nil
}

type sourceOut struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

// describe returns a text that describes f.
func describe(f *skein.File) string {
	s := "[file " + first(f.Name, f.URL, "without a name")
	if f.First > 0 {
		s += fmt.Sprintf(", lines %d to %d", f.First, f.Last)
	}
	if f.Media != "" {
		s += ", " + f.Media
	}
	return skein.Text(s + "]").UTF8()
}

// words returns JSON as text: a string without its quotes.
func words(v []byte) string {
	if s, ok := skein.Unquote(v); ok {
		return skein.Text(s).UTF8()
	}
	return skein.Text(v).UTF8()
}
