package codex

import (
	"encoding/json"
	"regexp"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
)

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
