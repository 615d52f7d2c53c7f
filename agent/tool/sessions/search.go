package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/tool"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

// Bounds of a search.
const (
	usualHits = 10
	maxHits   = 50
	most      = 10 * time.Second // of work, until something is found
)

type searching struct {
	Query   string `json:"query"`
	Rewound bool   `json:"rewound"`
	Each    bool   `json:"each"`
	Limit   int    `json:"limit"`
}

func (r reader) searchTool() tool.Tool {
	return tool.Tool{
		Spec: llm.ToolSpec{
			Name: "session_search",
			Doc: `Search earlier sessions of all agents and projects on this machine: what was said, and what tools did and answered. ` +
				`Use it to find how something was solved or decided before. To read more of what it finds, use session_read. ` +
				`The query has words that must all be there, "a phrase", begin* , -without, and conditions: tool:shell status:error file:store.go ` +
				`role:user agent:codex project:api session:NAME since:7d until:2026-11-21. session:this is this session, which is left out otherwise.`,
			Schema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "query": {"type": "string"},
    "rewound": {"type": "boolean", "description": "include messages that were taken back, marked"},
    "each": {"type": "boolean", "description": "every match, not only the best of each session"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "description": "at most this many; 10 if not given"}
  },
  "required": ["query"],
  "additionalProperties": false
}`),
		},
		Safe:  true,
		Title: title("query"),
		Run:   r.search,
	}
}

func (r reader) search(ctx context.Context, c tool.Call) (out tool.Output, err error) {
	in := searching{Limit: usualHits}
	if err := tool.Read(c.Input, &in); err != nil {
		return out, err
	}
	if in.Limit < 1 || in.Limit > maxHits {
		return out, fmt.Errorf("limit %d: want 1 to %d", in.Limit, maxHits)
	}
	q, err := search.Parse(in.Query)
	if err != nil {
		return out, err
	}
	if search.Empty(&q) {
		return out, fmt.Errorf("query %q: no words", in.Query)
	}
	own := q.Session == ""
	if !own {
		s, err := r.find(ctx, c, string(q.Session))
		if out, ok := several(err); ok {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		q.Session = s.ID
	}
	// The call's own session contains the query itself, and earlier calls like
	// this one.
	q.Rewound, q.Each, q.Limit = q.Rewound || in.Rewound, in.Each, in.Limit
	if own {
		q.Limit = in.Limit + maxHits
	}
	found, err := search.FindSome(ctx, r.store, q, most)
	if err != nil {
		return out, err
	}
	text, n, err := r.hits(ctx, found.Hits, in.Limit, func(h skein.Hit) bool { return !own || h.Session != c.Session })
	if err != nil {
		return out, err
	}
	if n == 0 {
		out.Text = "Nothing was found.\n"
	} else {
		out.Text = frame(text) + "To read what was said there, use session_read with the session's ID and first_turn.\n"
	}
	if found.CutOff {
		out.Text += "Only the newest messages were searched: use more words to find more.\n"
	}
	return out, nil
}

// hits formats at most limit of the hits that are wanted.
func (r reader) hits(ctx context.Context, hits []skein.Hit, limit int, wanted func(skein.Hit) bool) (text string, n int, err error) {
	of, err := lookup.OfHits(ctx, r.store, hits)
	if err != nil {
		return "", 0, err
	}
	var b strings.Builder
	for _, h := range hits {
		s, ok := of[h.Session]
		if n == limit || !ok || !wanted(h) { // or it was deleted meanwhile
			continue
		}
		n++
		fmt.Fprintf(&b, "%d. %s\n   turn %d, %s", n, about(&s), h.Turn, h.Role)
		if h.Time != 0 {
			b.WriteString(", " + date(h.Time))
		}
		if h.Rewound {
			b.WriteString(", taken back")
		}
		if h.Count > 1 {
			fmt.Fprintf(&b, ", %d hits", h.Count)
		}
		snippet := strings.NewReplacer(skein.Mark, "**", skein.EndMark, "**").Replace(h.Snippet)
		fmt.Fprintf(&b, "\n   %s\n", clip(skein.Text(snippet).UTF8(), 1000))
	}
	return b.String(), n, nil
}
