package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// maxEdited is the size of a file that can be edited, in bytes.
const maxEdited = 64 << 20

type editing struct {
	Path string  `json:"path"`
	Old  string  `json:"old_string"`
	New  *string `json:"new_string"`
	All  bool    `json:"replace_all"`
}

func (o Options) editTool() tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name: "edit_file",
			Doc: "Replace text in a file. old_string must be in the file exactly as given, including spaces, and only once: give enough lines around " +
				"it, or use replace_all for every occurrence. The file keeps its line endings.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "relative to the session's folder, or absolute"},
    "old_string": {"type": "string", "description": "the present text, without line numbers"},
    "new_string": {"type": "string", "description": "the text to put in its place"},
    "replace_all": {"type": "boolean", "description": "replace every occurrence"}
  },
  "required": ["path", "old_string", "new_string"],
  "additionalProperties": false
}`),
		},
		Title: pathTitle(),
		Ask: func(c tool.Call) string {
			var in editing
			if tool.Read(c.Input, &in) != nil { // Run reports the error
				return ""
			}
			return o.askWrite(c, in.Path)
		},
		Run: o.edit,
	}
}

func (o Options) edit(ctx context.Context, c tool.Call) (out tool.Output, err error) {
	var in editing
	if err := tool.Read(c.Input, &in); err != nil {
		return out, err
	}
	switch {
	case in.New == nil:
		return out, errors.New("new_string: missing")
	case in.Old == "":
		return out, errors.New("old_string: empty; to make a new file, use write_file")
	case in.Old == *in.New:
		return out, errors.New("old_string and new_string are the same")
	}
	p, err := o.place(c, in.Path)
	if err != nil {
		return out, err
	}
	was, err := o.content(ctx, p)
	if err != nil {
		return out, err
	}
	now, at, err := change(was, in)
	if err != nil {
		return out, fmt.Errorf("%s: %w", p.relative(), err)
	}
	if _, err := o.replace(ctx, p, now); err != nil {
		return out, err
	}
	out.Text = fmt.Sprintf("changed %s at %s\n", p.relative(), lineList(at))
	out.Meta = skein.MustJSON(map[string]any{"path": p.real, "lines": at})
	return out, nil
}

// content reads p, which must be a regular file that is not too large.
func (o Options) content(ctx context.Context, p place) ([]byte, error) {
	f, size, err := o.seen(ctx, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxEdited {
		return nil, fmt.Errorf("%s has %d bytes: at most %d can be edited", p.named, size, maxEdited)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.named, err)
	}
	return data, nil
}

// change returns was after the replacement, and the lines that it changed.
func change(was []byte, in editing) (now []byte, at []int, err error) {
	old, to := []byte(in.Old), []byte(*in.New)
	if crlf(was) {
		old, to = withCRLF(old), withCRLF(to)
	}
	at = places(was, old)
	switch {
	case len(at) == 0:
		return nil, nil, fmt.Errorf("old_string is not in the file%s", nearly(was, old))
	case len(at) > 1 && !in.All:
		return nil, nil, fmt.Errorf("old_string is in the file %d times, at %s: include more of the text around the one that you mean, or use replace_all", len(at), lineList(at))
	}
	return bytes.ReplaceAll(was, old, to), at, nil
}

// crlf reports whether every line of b ends with CR LF.
func crlf(b []byte) bool {
	n := bytes.Count(b, []byte("\r\n"))
	return n > 0 && n == bytes.Count(b, []byte("\n"))
}

func withCRLF(b []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
}

// places returns the numbers of the lines at which piece begins in b.
func places(b, piece []byte) (at []int) {
	line := 1
	for {
		i := bytes.Index(b, piece)
		if i < 0 {
			return at
		}
		line += bytes.Count(b[:i], []byte("\n"))
		at = append(at, line)
		line += bytes.Count(piece, []byte("\n"))
		b = b[i+len(piece):]
	}
}

// nearly says where b has piece if spaces are ignored; "" if nowhere.
func nearly(b, piece []byte) string {
	words := strings.Fields(string(piece))
	if len(words) == 0 || len(piece) > maxPattern || len(b) > maxSearched {
		return ""
	}
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	re, err := regexp.Compile(strings.Join(words, `\s+`))
	if err != nil { // not valid UTF-8
		return ""
	}
	m := re.FindIndex(b)
	if m == nil {
		return ""
	}
	return fmt.Sprintf("; with other spaces or line endings, it is at line %d", 1+bytes.Count(b[:m[0]], []byte("\n")))
}

// lineList lists the lines, at most ten of them.
func lineList(at []int) string {
	s := "line "
	if len(at) > 1 {
		s = "lines "
	}
	for i, n := range at[:min(len(at), 10)] {
		if i > 0 {
			s += ", "
		}
		s += strconv.Itoa(n)
	}
	if len(at) > 10 {
		s += fmt.Sprintf(" and %d more", len(at)-10)
	}
	return s
}
