package codex

import (
	"encoding/json"
	"regexp"
	"strconv"
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

// shellOutput is the JSON that older shells put into the output string.
type shellOutput struct {
	Output   *skein.Text    `json:"output"`
	Metadata jsontext.Value `json:"metadata"`
}

type shellMetadata struct {
	ExitCode *int `json:"exit_code"`
}

// exitLine matches the exit code that newer shells put above the output.
var exitLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Process exited with code|Exit code:) (-?\d{1,10})$`)
})

// headLength is how far down an exit line can be, in bytes.
const headLength = 400

// result reads the output of a call: a string, a string that is the JSON of
// shellOutput, a list of piece, or an object with content and success.
func result(v jsontext.Value) (skein.Part, []skein.Blob) {
	r := &skein.Result{}
	p := skein.Part{Kind: skein.PartResult, Result: r}
	switch {
	case loose.IsNull(v):
		return p, nil
	case v[0] == '"':
		text, _ := skein.Unquote(v)
		p.Meta = shell(r, text)
		return p, nil
	case v[0] == '[':
		return p, pieces(r, v)
	}
	o, err := unmarshal[struct {
		Content jsontext.Value `json:"content"`
		Success *bool          `json:"success"`
	}](v)
	if err != nil || loose.IsNull(o.Content) {
		r.Raw = skeinRaw(v)
		return p, nil
	}
	if r.Failed = o.Success != nil && !*o.Success; o.Content[0] == '"' {
		text, _ := skein.Unquote(o.Content)
		r.Text = skein.Text(text)
		return p, nil
	}
	return p, pieces(r, o.Content)
}

// shell fills r from an output string and returns what else the string has.
func shell(r *skein.Result, text string) json.RawMessage {
	if len(text) > 0 && text[0] == '{' {
		if o, err := unmarshal[shellOutput]([]byte(text)); err == nil && o.Output != nil && onlyShell(text) {
			r.Text = *o.Output
			if m, err := unmarshal[shellMetadata](orEmpty(o.Metadata)); err == nil && m.ExitCode != nil {
				r.Failed = *m.ExitCode != 0
			}
			return skeinRaw(o.Metadata)
		}
	}
	r.Text = skein.Text(text)
	if m := exitLine().FindStringSubmatch(text[:min(len(text), headLength)]); m != nil {
		code, err := strconv.Atoi(m[1])
		r.Failed = err == nil && code != 0
	}
	return nil
}

// onlyShell reports whether the object has only the fields of shellOutput: a tool's
// own JSON may have an output too, and is kept unchanged.
func onlyShell(text string) bool {
	m, err := unmarshal[map[string]jsontext.Value]([]byte(text))
	if err != nil {
		return false
	}
	delete(m, "output")
	meta, had := m["metadata"]
	delete(m, "metadata")
	return had && len(m) == 0 && loose.Fits(string(orEmpty(meta)))
}

func pieces(r *skein.Result, v jsontext.Value) []skein.Blob {
	var s said
	s.list(v)
	r.Text = s.texts()
	for _, p := range s.parts {
		switch p.Kind {
		case skein.PartFile:
			r.Files = append(r.Files, *p.File)
		case skein.PartOther:
			r.Raw = skeinRaw(v)
		}
	}
	return s.blobs
}

func orEmpty(v jsontext.Value) jsontext.Value {
	if loose.IsNull(v) {
		return jsontext.Value("{}")
	}
	return v
}
