package files

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

type writing struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
}

func (o Options) writeTool() tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name: "write_file",
			Doc:  "Write a whole file: a new one, or in place of an existing one. Missing folders are made. To change a part of a file, use edit_file.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "relative to the session's folder, or absolute"},
    "content": {"type": "string", "description": "the complete content of the file"}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}`),
		},
		Title: pathTitle(),
		Ask: func(c tool.Call) string {
			var in writing
			if tool.Read(c.Input, &in) != nil { // Run reports the error
				return ""
			}
			return o.askWrite(c, in.Path)
		},
		Run: o.write,
	}
}

// askWrite returns the question before path is written, or "" if none is
// needed.
func (o Options) askWrite(c tool.Call, path string) string {
	p, err := o.place(c, path)
	if err != nil { // Run reports the error
		return ""
	}
	return p.askWrite()
}

func (o Options) write(ctx context.Context, c tool.Call) (out tool.Output, err error) {
	var in writing
	if err := tool.Read(c.Input, &in); err != nil {
		return out, err
	}
	if in.Content == nil {
		return out, errors.New("content: missing")
	}
	p, err := o.place(c, in.Path)
	if err != nil {
		return out, err
	}
	made, err := o.replace(ctx, p, []byte(*in.Content))
	if err != nil {
		return out, err
	}
	what := "wrote"
	if made {
		what = "made"
	}
	out.Text = fmt.Sprintf("%s %s: %s, %s\n", what, p.relative(), count(len(*in.Content), "byte"), count(countLines(*in.Content), "line"))
	out.Meta = skein.MustJSON(map[string]any{"path": p.real, "made": made, "bytes": len(*in.Content)})
	return out, nil
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// replace writes data to p's file, all or nothing, and reports whether the file
// is new. A file keeps its mode; a link stays a link. If an editor writes it, that is the
// editor's to do.
func (o Options) replace(ctx context.Context, p place, data []byte) (made bool, err error) {
	was, err := os.Stat(p.real)
	if o.remembers(p, was) {
		return false, fmt.Errorf("%s is read by every later session, so only the tool remember changes it, and asks the person each time", p.named)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		made = true
		if err := os.MkdirAll(filepath.Dir(p.real), 0o777); err != nil { // subject to the umask
			return false, err
		}
	case err != nil:
		return false, err
	case was.IsDir():
		return false, fmt.Errorf("%s is a folder", p.named)
	case !was.Mode().IsRegular():
		return false, fmt.Errorf("%s is not a file but a %s", p.named, was.Mode().Type())
	case was.Mode().Perm()&0o200 == 0:
		return false, fmt.Errorf("%s is read-only", p.named)
	}
	if was != nil {
		if err := o.shut().err(p, was); err != nil {
			return false, err
		}
	}
	if o.Editor != nil && p.inside() && utf8.Valid(data) {
		if did, err := o.Editor.WriteText(ctx, p.path, string(data)); did || err != nil {
			return made, err
		}
	}
	tmp := filepath.Join(filepath.Dir(p.real), "."+rand.Text()+".tmp")
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // subject to the umask
	if err != nil {
		return false, err
	}
	if err = fill(f, data, was); err == nil {
		err = os.Rename(tmp, p.real)
	}
	if err != nil {
		_ = os.Remove(tmp) // the earlier error is returned
	}
	return made, err
}

// fill writes data to f, gives it the mode of was, if not nil, syncs it and
// closes it.
func fill(f *os.File, data []byte, was fs.FileInfo) error {
	_, err := f.Write(data)
	if was != nil {
		err = errors.Join(err, f.Chmod(was.Mode().Perm()))
	}
	return errors.Join(err, f.Sync(), f.Close())
}
