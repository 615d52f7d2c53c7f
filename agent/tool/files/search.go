package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
)

// Bounds of search_files.
const (
	usualMatches = 100
	maxMatches   = 1000
	maxAround    = 10       // lines of context
	maxSearched  = 16 << 20 // bytes of a file
	maxPattern   = 4 << 10  // bytes
)

type searching struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
	Glob    string `json:"glob"`
	NoCase  bool   `json:"ignore_case"`
	Around  int    `json:"context"`
	Ignored bool   `json:"ignored"`
	Limit   int    `json:"limit"`
}

func (o Options) searchTool() tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name: "search_files",
			Doc: "Find lines in the files below a folder, or in one file, by a regular expression (RE2: no lookaround, no backreference). " +
				"Returns lines of the form path:line: text. Files that git ignores, files that are not text, and files that may contain secrets are left out.",
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "the regular expression; ^ and $ are the ends of a line"},
    "path": {"type": "string", "description": "the folder or file; the session's own folder if not given"},
    "glob": {"type": "string", "description": "only in files that match: *.go, src/**/*.{ts,tsx}"},
    "ignore_case": {"type": "boolean"},
    "context": {"type": "integer", "minimum": 0, "maximum": 10, "description": "lines to show before and after each"},
    "ignored": {"type": "boolean", "description": "include files that git ignores"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "at most this many matches; 100 if not given"}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`),
		},
		Safe: true,
		Title: titled(func(in struct{ Path, Pattern string }) string {
			return strings.TrimSpace(in.Pattern + " " + in.Path)
		}),
		Ask: func(c tool.Call) string {
			in := searching{Path: "."}
			if tool.Read(c.Input, &in) != nil { // Run reports the error
				return ""
			}
			p, err := o.place(c, in.Path)
			if err != nil {
				return ""
			}
			if s, err := os.Stat(p.real); err != nil || s.IsDir() { // when a folder is searched, they are skipped
				return ""
			}
			return p.askRead()
		},
		Run: o.search,
	}
}

func (in *searching) check() (re *regexp.Regexp, err error) {
	switch {
	case in.Pattern == "":
		return nil, errors.New("pattern: empty")
	case len(in.Pattern) > maxPattern:
		return nil, fmt.Errorf("pattern of %d bytes: at most %d are allowed", len(in.Pattern), maxPattern)
	case in.Around < 0 || in.Around > maxAround:
		return nil, fmt.Errorf("context %d: want 0 to %d", in.Around, maxAround)
	case in.Limit < 1 || in.Limit > maxMatches:
		return nil, fmt.Errorf("limit %d: want 1 to %d", in.Limit, maxMatches)
	}
	flags := "(?m)"
	if in.NoCase {
		flags = "(?mi)"
	}
	if re, err = regexp.Compile(flags + in.Pattern); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", in.Pattern, err)
	}
	return re, nil
}

func (o Options) search(ctx context.Context, c tool.Call) (out tool.Output, err error) {
	in := searching{Path: ".", Limit: usualMatches}
	if err := tool.Read(c.Input, &in); err != nil {
		return out, err
	}
	re, err := in.check()
	if err != nil {
		return out, err
	}
	p, err := o.place(c, in.Path)
	if err != nil {
		return out, err
	}
	f := lineFinder{re: re, around: in.Around, limit: in.Limit, shut: o.shut()}
	s, err := os.Stat(p.real)
	switch {
	case err != nil:
		return out, err
	case !s.IsDir():
		file, _, err := o.open(p)
		if err != nil {
			return out, err
		}
		file.Close()
		err = f.file(p.real, p.relative(), s)
		return f.output(), err
	}
	g, err := parseGlob(in.Glob)
	if err != nil {
		return out, err
	}
	w := walker{real: p.real, all: in.Ignored, visit: func(path string, d fs.DirEntry) error {
		if !d.Type().IsRegular() || in.Glob != "" && !g.match(path) {
			return nil
		}
		at := filepath.Join(p.real, filepath.FromSlash(path))
		if (place{path: at, real: at, home: p.home}).secret() {
			f.secrets++
			return nil
		}
		s, err := d.Info()
		if err != nil { // it was removed meanwhile
			return nil //nolint:nilerr // what is not there has no matches
		}
		if err := f.file(at, p.under(path), s); err != nil {
			return err
		}
		if f.matches > f.limit || f.text.Len() > maxShown {
			return errEnough
		}
		return nil
	}}
	if err := w.walk(ctx); err != nil {
		return out, err
	}
	out = f.output()
	out.Text += w.notes()
	return out, nil
}
