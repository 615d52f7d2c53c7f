package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/store/lenient"
	"github.com/skein-dev/skein/store/lookup"
)

// New returns the tools, which search view: the sessions that the user may
// read.
func New(view skein.Store) []tool.Tool {
	r := reader{lenient.Store(view, nil)}
	return []tool.Tool{r.searchTool(), r.readTool()}
}

type reader struct{ store skein.Store }

// find returns the session that a model means by name; "this" is the call's
// own. The error is written for the model, except if several sessions have the
// name.
func (r reader) find(ctx context.Context, c tool.Call, name string) (skein.Session, error) {
	if name == "this" {
		return r.store.Session(ctx, c.Session)
	}
	return lookup.Resolve(ctx, r.store, name, skein.Filter{})
}

// several answers with all sessions if the name fits more than one.
func several(err error) (out tool.Output, ok bool) {
	many := (*skein.AmbiguousError)(nil)
	if !errors.As(err, &many) {
		return out, false
	}
	var b strings.Builder
	for i := range many.Candidates {
		b.WriteString(about(&many.Candidates[i]) + "\n")
	}
	if many.More {
		b.WriteString("and others\n")
	}
	return tool.Output{Text: fmt.Sprintf("%q could be any of these; give the ID.\n", many.Name) + frame(b.String()), Failed: true}, true
}

// about describes s on one line.
func about(s *skein.Session) string {
	all := []string{string(s.ID), fmt.Sprintf("%q", clip(skein.Text(s.Name()).UTF8(), 120))}
	for _, f := range []struct{ name, value string }{{"project", s.Project}, {"agent", s.Agent}, {"model", s.Model}, {"updated", date(s.Updated)}} {
		if f.value != "" {
			all = append(all, f.name+" "+clip(skein.Text(f.value).UTF8(), 200))
		}
	}
	turns := "1 turn"
	if s.Turns != 1 {
		turns = fmt.Sprintf("%d turns", s.Turns)
	}
	return strings.Join(append(all, turns), ", ")
}

func date(t skein.Time) string {
	if t == 0 {
		return ""
	}
	return t.String()
}

// clip returns s on one line, at most n bytes of it.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// title returns a Title that is the first non-empty one of these fields of the
// input.
func title(fields ...string) func(json.RawMessage) string {
	return func(input json.RawMessage) string {
		var in map[string]any
		if json.Unmarshal(input, &in) != nil { // Run reports the error
			return ""
		}
		for _, f := range fields {
			if s, ok := in[f].(string); ok && s != "" {
				return tool.Line(s)
			}
		}
		return ""
	}
}
