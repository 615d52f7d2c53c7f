package api

import (
	"time"

	"github.com/skein-dev/skein"
)

// A Filter is a [skein.Filter] as JSON.
type Filter struct {
	User          skein.User        `json:"user,omitempty"`
	Key           string            `json:"key,omitempty"`
	Project       string            `json:"project,omitempty"`
	Repository    string            `json:"repository,omitempty"`
	Agent         string            `json:"agent,omitempty"`
	Profile       string            `json:"profile,omitempty"`
	Model         string            `json:"model,omitempty"`
	Origin        string            `json:"origin,omitempty"`
	Born          bool              `json:"born,omitempty"`
	Surface       string            `json:"surface,omitempty"`
	Tag           string            `json:"tag,omitempty"`
	Pinned        bool              `json:"pinned,omitempty"`
	Parent        skein.SessionID   `json:"parent,omitempty"`
	NoChildren    bool              `json:"no_children,omitempty"`
	Bin           bool              `json:"bin,omitempty"`
	Since         skein.Time        `json:"since,omitzero"`
	Until         skein.Time        `json:"until,omitzero"`
	Before        *skein.Session    `json:"before,omitempty"` // only its ID and updated_at matter
	IDs           []skein.SessionID `json:"ids,omitempty"`
	IDPrefix      string            `json:"id_prefix,omitempty"`
	IDSuffix      string            `json:"id_suffix,omitempty"`
	Title         string            `json:"title,omitempty"`
	Limit         int               `json:"limit,omitempty"`
	LargerThan    int64             `json:"larger_than,omitempty"` // bytes
	IncludeEmpty  bool              `json:"include_empty,omitempty"`
	WithOpenCalls bool              `json:"with_open_calls,omitempty"`

	Among map[skein.Dimension][]string `json:"among,omitempty"`
}

// A Query is a [skein.Query] as JSON.
type Query struct {
	Terms      []Term          `json:"terms,omitempty"`
	Substring  string          `json:"substring,omitempty"`
	Regex      string          `json:"regex,omitempty"`
	User       skein.User      `json:"user,omitempty"`
	Session    skein.SessionID `json:"session,omitempty"`
	Role       skein.Role      `json:"role,omitempty"`
	Agent      string          `json:"agent,omitempty"`
	Project    string          `json:"project,omitempty"`
	Repository string          `json:"repository,omitempty"` // with project: sessions of either
	Origin     string          `json:"origin,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Path       string          `json:"path,omitempty"`
	Failed     bool            `json:"failed,omitempty"`
	Since      skein.Time      `json:"since,omitzero"`
	Until      skein.Time      `json:"until,omitzero"`
	Rewound    bool            `json:"rewound,omitempty"`
	Each       bool            `json:"each,omitempty"`
	Newest     bool            `json:"newest,omitempty"` // with each: the newest matches, not the best
	Whole      bool            `json:"whole,omitempty"`  // also send kind and payload64 of each hit
	Limit      int             `json:"limit,omitempty"`
	Deadline   time.Duration   `json:"deadline_ns,omitempty"` // nanoseconds
}

// A Term is a [skein.Term] as JSON.
type Term struct {
	Words  []string `json:"words"`
	Any    bool     `json:"any,omitempty"` // any of the words, not the phrase
	Prefix bool     `json:"prefix,omitempty"`
	Not    bool     `json:"not,omitempty"`
}

// QueryOf returns q as it is sent over the wire.
func QueryOf(q skein.Query) Query {
	out := Query{
		Substring: q.Substring, Regex: q.Regex, User: q.User, Session: q.Session, Role: q.Role, Agent: q.Agent, Project: q.Project, Repository: q.Repository, Origin: q.Origin,
		Tool: q.Tool, Path: q.Path, Failed: q.Failed, Since: q.Since, Until: q.Until, Rewound: q.Rewound, Each: q.Each, Newest: q.Newest, Whole: q.Whole, Limit: q.Limit, Deadline: q.Deadline,
	}
	for _, t := range q.Terms {
		out.Terms = append(out.Terms, Term(t))
	}
	return out
}

// Query returns q as the type that a store takes.
func (q Query) Query() skein.Query {
	out := skein.Query{
		Substring: q.Substring, Regex: q.Regex, User: q.User, Session: q.Session, Role: q.Role, Agent: q.Agent, Project: q.Project, Repository: q.Repository, Origin: q.Origin,
		Tool: q.Tool, Path: q.Path, Failed: q.Failed, Since: q.Since, Until: q.Until, Rewound: q.Rewound, Each: q.Each, Newest: q.Newest, Whole: q.Whole, Limit: q.Limit, Deadline: q.Deadline,
	}
	for _, t := range q.Terms {
		out.Terms = append(out.Terms, skein.Term(t))
	}
	return out
}

// Results are [skein.Results] as JSON.
type Results struct {
	Hits   []Hit `json:"hits"`
	CutOff bool  `json:"cut_off,omitempty"`
}

// A Hit is a [skein.Hit] as JSON.
type Hit struct {
	Session skein.SessionID `json:"session"`
	Seq     skein.Seq       `json:"seq"`
	Turn    int             `json:"turn"`
	Role    skein.Role      `json:"role,omitempty"`
	Time    skein.Time      `json:"time"`
	Score   float64         `json:"score"`
	Snippet string          `json:"snippet"` // matches are between U+0002 and U+0003
	Count   int             `json:"count"`
	Rewound bool            `json:"rewound,omitempty"`
	Kind    skein.Kind      `json:"kind,omitempty"`      // of the event; only if Whole was set
	Payload []byte          `json:"payload64,omitempty"` // of the event, in base64; only if Whole was set
}

// ResultsOf returns r as it is sent over the wire.
func ResultsOf(r skein.Results) Results {
	out := Results{Hits: make([]Hit, len(r.Hits)), CutOff: r.CutOff}
	for i, h := range r.Hits {
		out.Hits[i] = Hit{Session: h.Session, Seq: h.Seq, Turn: h.Turn, Role: h.Role, Time: h.Time, Score: h.Score, Snippet: h.Snippet, Count: h.Count, Rewound: h.Rewound}
		if h.Event != nil {
			out.Hits[i].Kind, out.Hits[i].Payload = h.Event.Kind, h.Event.Payload
		}
	}
	return out
}

// Results returns r as the type that a store returns.
func (r Results) Results() skein.Results {
	out := skein.Results{CutOff: r.CutOff}
	for _, h := range r.Hits {
		hit := skein.Hit{Session: h.Session, Seq: h.Seq, Turn: h.Turn, Role: h.Role, Time: h.Time, Score: h.Score, Snippet: h.Snippet, Count: h.Count, Rewound: h.Rewound}
		if h.Kind != "" {
			hit.Event = &skein.Event{Seq: h.Seq, Time: h.Time, Kind: h.Kind, Payload: h.Payload}
		}
		out.Hits = append(out.Hits, hit)
	}
	return out
}
