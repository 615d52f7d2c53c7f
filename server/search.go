package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/search"
)

// searchQuery is a skein.Query as URL parameters.
type searchQuery struct {
	Q        string `query:"q" doc:"the query, as a person types it: words, \"a phrase\", snap*, -without, tool:bash status:error file:store.go role: agent: project: session: since: until:"`
	Mode     string `query:"mode" enum:"words,substring,regex" default:"words" doc:"substring: q is exact text, ignoring case; regex: q is a regular expression (RE2)"`
	Session  string `query:"session" doc:"only in the session with this ID, key or name"`
	Role     string `query:"role" enum:"user,assistant,tool,system,steer"`
	Agent    string `query:"agent"`
	Project  string `query:"project" doc:"path or repository of the project, or the end of it after a slash"`
	Origin   string `query:"origin"`
	Tool     string `query:"tool"`
	File     string `query:"file" doc:"only messages whose tools name a path that contains this"`
	Failed   bool   `query:"failed" doc:"errors only"`
	Since    string `query:"since"`
	Until    string `query:"until"`
	Rewound  bool   `query:"rewound" doc:"include messages that were taken back"`
	Each     bool   `query:"each" doc:"every match, not only the best of each session"`
	Limit    int    `query:"limit" default:"20" minimum:"1" maximum:"200"`
	Deadline int    `query:"deadline_ms" minimum:"1" maximum:"10000" doc:"stop after as much work as an idle machine does in this many milliseconds; by default 150, or up to 10000 until something is found"`
	Raw      bool   `query:"raw" doc:"include secrets; needs the scope read:raw"`
}

// hit is a message that matches.
type hit struct {
	Session skein.SessionID  `json:"session"`
	Seq     skein.Seq        `json:"seq"`
	Turn    int              `json:"turn" doc:"0 before the first turn"`
	Role    skein.Role       `json:"role,omitempty"`
	Time    skein.Time       `json:"time"`
	Score   float64          `json:"score" doc:"higher is better; only comparable within one search"`
	Count   int              `json:"count" doc:"number of hits in the session: messages, titles, summaries; 0 if not counted"`
	Rewound bool             `json:"rewound,omitempty" doc:"true if the message was taken back"`
	Name    string           `json:"name" doc:"name of the session"`
	Agent   string           `json:"agent,omitempty"`
	Project string           `json:"project,omitempty"`
	Snippet []skein.Fragment `json:"snippet" doc:"the texts in this order are the snippet"`
}

// facet is a value of the hits, and how many have it.
type facet struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}

// found is the answer to a search.
type found struct {
	Items     []hit              `json:"items"`
	CutOff    bool               `json:"cut_off" doc:"true if only the newest messages were searched: there may be better hits"`
	Suggested string             `json:"did_you_mean,omitempty" doc:"if nothing was found: a query that finds something and differs by a letter in some words"`
	Facets    map[string][]facet `json:"facets" doc:"agents, projects and roles of these hits"`
}

// searches registers the route of search.
func (a findOps) searches(t *openapi.Table) {
	type out struct{ Body found }
	openapi.Register(t, openapi.Operation{ID: "search", Method: http.MethodGet, Path: "/search", Tag: "search", Scope: door.Read, Summary: "Search messages, best match first", Doc: "q is written as in skein search: words, \"phrases\", -without, and filters such as project:, agent:, tool: or since:.", Errors: []int{http.StatusNotFound, http.StatusConflict}},
		func(ctx context.Context, i *searchQuery) (*out, error) {
			if err := rawly(ctx, i.Raw); err != nil {
				return nil, err
			}
			q, err := a.query(ctx, i)
			if err != nil {
				return nil, err
			}
			if search.Empty(&q) {
				return nil, fmt.Errorf("%w: q: nothing to search for", skein.ErrInvalid)
			}
			f, err := a.find(ctx, q, i)
			return &out{f}, err
		})
}

// find returns what q finds, without secrets unless they are asked for.
func (a findOps) find(ctx context.Context, q skein.Query, i *searchQuery) (found, error) {
	store := a.shownStore(ctx, i.Raw)
	r, err := search.FindSome(ctx, store, q, cmp.Or(q.Deadline, slowly))
	if err != nil {
		return found{}, err
	}
	out, err := hitsOf(ctx, store, r)
	if err == nil && len(r.Hits) == 0 && !r.CutOff {
		out.Suggested, err = search.Suggest(ctx, store, i.Q, q)
	}
	return out, err
}

// slowly is how long a search may take to find something, if the request does
// not say.
const slowly = 10 * time.Second

// query builds the query; parameters override what the words say.
func (a findOps) query(ctx context.Context, i *searchQuery) (q skein.Query, err error) {
	switch i.Mode {
	case "substring":
		q.Substring = i.Q
	case "regex":
		q.Regex = i.Q
	default:
		if q, err = search.ParseAt(i.Q, a.Now()); err != nil {
			return q, err
		}
	}
	if i.Deadline > 0 {
		q.Deadline = time.Duration(i.Deadline) * time.Millisecond
	}
	for _, f := range []struct {
		to   *string
		from string
	}{{(*string)(&q.Role), i.Role}, {&q.Agent, i.Agent}, {&q.Project, i.Project}, {&q.Origin, i.Origin}, {&q.Tool, i.Tool}, {&q.Path, i.File}, {(*string)(&q.Session), i.Session}} {
		*f.to = cmp.Or(f.from, *f.to)
	}
	from, to, err := a.span(i.Since, i.Until)
	if err != nil {
		return q, err
	}
	q.Since, q.Until = cmp.Or(from, q.Since), cmp.Or(to, q.Until)
	q.Failed, q.Rewound, q.Each, q.Limit = q.Failed || i.Failed, q.Rewound || i.Rewound, i.Each, i.Limit
	if q.Session != "" {
		s, err := a.resolve(ctx, string(q.Session), skein.Filter{})
		q.Session = s.ID
		return q, err
	}
	return q, nil
}

// hitsOf returns the results r of store as the answer has them.
func hitsOf(ctx context.Context, store skein.Store, r skein.Results) (found, error) {
	out := found{Items: []hit{}, CutOff: r.CutOff, Facets: map[string][]facet{}}
	sessions, err := lookup.OfHits(ctx, store, r.Hits)
	if err != nil {
		return out, err
	}
	for _, h := range r.Hits {
		s, ok := sessions[h.Session]
		if !ok {
			continue // it was deleted since
		}
		out.Items = append(out.Items, hit{
			Session: h.Session, Seq: h.Seq, Turn: h.Turn, Role: h.Role, Time: h.Time, Score: h.Score, Count: h.Count, Rewound: h.Rewound,
			Name: s.Name(), Agent: s.Agent, Project: s.Project, Snippet: h.Fragments(),
		})
	}
	for name, of := range map[string]func(*hit) string{
		"agent": func(h *hit) string { return h.Agent }, "project": func(h *hit) string { return h.Project }, "role": func(h *hit) string { return string(h.Role) },
	} {
		out.Facets[name] = facetsOf(out.Items, of)
	}
	return out, nil
}

func facetsOf(hits []hit, of func(*hit) string) []facet {
	all := []facet{}
	for n := range hits {
		value := of(&hits[n])
		i := slices.IndexFunc(all, func(f facet) bool { return f.Value == value })
		if i < 0 {
			i = len(all)
			all = append(all, facet{Value: value})
		}
		all[i].Count++
	}
	slices.SortStableFunc(all, func(a, b facet) int { return cmp.Compare(b.Count, a.Count) })
	return all
}
