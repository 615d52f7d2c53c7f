package codex

import (
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

// said collects the parts of one message and the blobs that they name.
type said struct {
	parts []skein.Part
	blobs []skein.Blob
}

// list adds a content list, or a string in place of one.
func (s *said) list(v jsontext.Value) {
	if loose.IsNull(v) {
		return
	}
	if v[0] == '"' {
		text, _ := skein.Unquote(v)
		s.parts = append(s.parts, textPart(skein.Text(text)))
		return
	}
	raw, err := unmarshal[[]jsontext.Value](v)
	if err != nil {
		s.other(v)
		return
	}
	for _, r := range raw {
		s.piece(r)
	}
}

func (s *said) piece(raw jsontext.Value) {
	p, err := unmarshal[piece](raw)
	switch {
	case err != nil:
		s.other(raw)
	case p.Type == "input_image":
		s.file(raw, "", loose.Str(p.ImageURL))
	case p.Type == "input_file":
		s.file(raw, p.FileName, first(p.FileData, p.FileURL))
	case p.Text != nil && loose.IsNull(p.EncryptedContent):
		s.parts = append(s.parts, textPart(*p.Text))
	default:
		s.other(raw)
	}
}

// file adds an attachment: the bytes of a data: URL as a blob, any other URL
// unchanged.
func (s *said) file(raw jsontext.Value, name, url string) {
	f, blob := loose.Attach(name, "", url)
	if f == nil {
		s.other(raw)
		return
	}
	if blob != nil {
		s.blobs = append(s.blobs, *blob)
	}
	s.parts = append(s.parts, skein.Part{Kind: skein.PartFile, File: f})
}

func (s *said) other(raw jsontext.Value) {
	s.parts = append(s.parts, skein.Part{Kind: skein.PartOther, Raw: skeinRaw(raw)})
}

// all returns the parts, an empty list if there are none.
func (s *said) all() []skein.Part {
	if s.parts == nil {
		return []skein.Part{}
	}
	return s.parts
}

// texts returns the texts of the pieces, joined by blank lines.
func (s *said) texts() skein.Text {
	var b []string
	for _, p := range s.parts {
		if p.Text != "" {
			b = append(b, string(p.Text))
		}
	}
	return skein.Text(strings.Join(b, "\n\n"))
}

func textPart(t skein.Text) skein.Part {
	return skein.Part{Kind: skein.PartText, Text: t}
}

// wrapped matches an envelope around a whole text, such as
// <goal_context>…</goal_context>: no user writes that.
var wrapped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^<([a-z]+_[a-z_]+)>.*</([a-z]+_[a-z_]+)>$`) })

// injected reports whether a program inserted text into a user's message.
func injected(text skein.Text) bool {
	t := strings.TrimSpace(string(text))
	if skein.Wrapped(t) || strings.HasPrefix(t, "<image name=") || strings.HasPrefix(t, "</image>") {
		return true
	}
	m := wrapped().FindStringSubmatch(t)
	return m != nil && m[1] == m[2]
}

// contextCwd returns the directory that an <environment_context> names.
func contextCwd(text skein.Text) string {
	t := strings.TrimSpace(string(text))
	if !strings.HasPrefix(t, "<environment_context>") {
		return ""
	}
	if _, rest, ok := strings.Cut(t, "<cwd>"); ok {
		cwd, _, ok := strings.Cut(rest, "</cwd>")
		if ok && len(cwd) < 4096 {
			return strings.TrimSpace(cwd)
		}
	}
	_, rest, ok := strings.Cut(t, "Current working directory: ")
	if !ok {
		return ""
	}
	cwd, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(cwd)
}
