package files

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// Bounds of the output of list_files.
const (
	usualEntries = 500
	maxEntries   = 5000
)

type listing struct {
	Path    string `json:"path"`
	Pattern string `json:"pattern"`
	Ignored bool   `json:"ignored"`
	Limit   int    `json:"limit"`
}

func (o Options) listTool() tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name: "list_files",
			Doc:  "List a folder, or with a pattern find the files below it by name: *.go matches names in every folder below, src/**/*_test.go matches paths; {a,b} matches either. Files that git ignores are left out.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "the folder; the session's own if not given"},
    "pattern": {"type": "string", "description": "a glob; without one, what is in the folder itself is listed, folders with a slash at the end"},
    "ignored": {"type": "boolean", "description": "include what git ignores"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 5000, "description": "at most this many; 500 if not given"}
  },
  "additionalProperties": false
}`),
		},
		Safe: true,
		Title: titled(func(in struct{ Path, Pattern string }) string {
			return strings.TrimSpace(in.Pattern + " " + in.Path)
		}),
		Run: o.list,
	}
}

func (o Options) list(ctx context.Context, c tool.Call) (out tool.Output, err error) {
	in := listing{Path: ".", Limit: usualEntries}
	if err := tool.Read(c.Input, &in); err != nil {
		return out, err
	}
	if in.Limit < 1 || in.Limit > maxEntries {
		return out, fmt.Errorf("limit %d: want 1 to %d", in.Limit, maxEntries)
	}
	p, err := o.folder(c, in.Path)
	if err != nil {
		return out, err
	}
	g, err := parseGlob(in.Pattern)
	if err != nil {
		return out, err
	}
	var found []string
	more := 0
	flat := in.Pattern == ""
	w := walker{real: p.real, all: in.Ignored, flat: flat, visit: func(path string, d fs.DirEntry) error {
		switch {
		case flat && d.IsDir():
			path += "/"
		case !flat && (d.IsDir() || !g.match(path)):
			return nil
		}
		if len(found) == in.Limit {
			more++
			return nil
		}
		found = append(found, path)
		return nil
	}}
	if err := w.walk(ctx); err != nil {
		return out, err
	}
	for _, f := range found {
		out.Text += p.under(f) + "\n"
	}
	switch {
	case more > 0:
		out.Text += fmt.Sprintf("[%d more; use a narrower pattern or folder, or a larger limit, to see them]\n", more)
	case len(found) == 0 && flat:
		out.Text = "[the folder is empty]\n"
	case len(found) == 0:
		out.Text = fmt.Sprintf("[no file matches %q in %s]\n", in.Pattern, p.relative())
	}
	out.Text += w.notes()
	return out, nil
}

// folder finds path, which must be a folder.
func (o Options) folder(c tool.Call, path string) (place, error) {
	p, err := o.place(c, path)
	if err != nil {
		return p, err
	}
	s, err := os.Stat(p.real)
	if err == nil && !s.IsDir() {
		err = fmt.Errorf("%s is not a folder", p.named)
	}
	return p, err
}

// under returns a name for the file at path in the folder p.
func (p place) under(path string) string {
	s := filepath.ToSlash(filepath.Join(p.relative(), filepath.FromSlash(path)))
	if strings.HasSuffix(path, "/") {
		s += "/"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
