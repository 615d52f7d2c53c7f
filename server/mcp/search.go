package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

type searchIn struct {
	Query   string `json:"query" jsonschema:"what to look for"`
	Session string `json:"session,omitempty" jsonschema:"only in this session: its ID, key or title"`
	Rewound bool   `json:"rewound,omitempty" jsonschema:"include messages that were taken back, marked"`
	Each    bool   `json:"each,omitempty" jsonschema:"every match, not only the best of each session"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most this many, up to 50; 10 if not given"`
}

// A hitLine is a hit in an answer.
type hitLine struct {
	Session skein.SessionID `json:"session"`
	Name    string          `json:"name,omitempty"` // of the session
	Seq     skein.Seq       `json:"seq"`
	Turn    int             `json:"turn,omitempty"`
	Role    skein.Role      `json:"role,omitempty"`
	Time    skein.Time      `json:"time,omitzero"`
	Count   int             `json:"count,omitempty"`   // hits in the session
	Rewound bool            `json:"rewound,omitempty"` // a rewind took it back
	Snippet string          `json:"snippet"`
}

// most is how long a search may take to find something.
const most = 10 * time.Second

func (s *toolset) search(ctx context.Context, in searchIn) (*sdk.CallToolResult, error) {
	q, err := search.ParseAt(in.Query, s.Now())
	if err != nil {
		return nil, err
	}
	if search.Empty(&q) {
		return nil, fmt.Errorf("query %q: %w: nothing to search for", in.Query, skein.ErrInvalid)
	}
	if in.Session == "" {
		in.Session = string(q.Session)
	}
	if in.Session != "" {
		x, err := s.session(ctx, in.Session)
		if err != nil {
			return nil, err
		}
		q.Session = x.ID
	}
	q.Rewound, q.Each, q.Limit = q.Rewound || in.Rewound, in.Each, bound(in.Limit, 10, 50)
	found, err := search.FindSome(ctx, s.store, q, most)
	if err != nil {
		return nil, err
	}
	p := &answerLines{toolset: s}
	of, err := lookup.OfHits(ctx, s.store, found.Hits)
	if err != nil {
		return nil, err
	}
	for _, h := range found.Hits {
		x, ok := of[h.Session]
		if !ok {
			continue // it was deleted since
		}
		if !p.add(s.hit(h, x)) {
			break
		}
	}
	switch {
	case found.CutOff:
		return p.answer("Only the newest messages were searched: there may be better matches. Use more words to find them."), nil
	case len(found.Hits) == 0:
		better, err := search.Suggest(ctx, s.store, in.Query, q)
		if err != nil {
			return nil, err
		}
		if better != "" {
			return p.answer("Nothing was found, but something is for: " + better), nil
		}
		return p.answer("Nothing was found."), nil
	}
	return p.answer("To read on, use session_read with the session and from=SEQ. The matches are between « and »."), nil
}

// hit returns a hit in the session x for an answer.
func (s *toolset) hit(h skein.Hit, x skein.Session) hitLine {
	snippet := strings.NewReplacer(skein.Mark, "«", skein.EndMark, "»").Replace(h.Snippet)
	return hitLine{h.Session, s.short(x.Name()), h.Seq, h.Turn, h.Role, h.Time, h.Count, h.Rewound, snippet}
}

// session returns the session that a name stands for.
func (s *toolset) session(ctx context.Context, name string) (skein.Session, error) {
	x, err := lookup.Resolve(ctx, s.store, name, skein.Filter{})
	if err == nil {
		door.Reads(ctx, x.ID)
	}
	return x, err
}
