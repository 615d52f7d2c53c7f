package skein

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxWhole is about the most bytes that the events of a search's hits take; see
// [Query].Whole.
const MaxWhole = 8 << 20

// A Query asks for messages. [search.Parse] makes one from what a person typed;
// [search.NewMatcher] defines what it matches. A query with conditions but no words
// matches everything that meets them; an empty query matches nothing.
type Query struct {
	Terms      []Term    // all must match
	Substring  string    // exact text, case ignored, instead of Terms
	Regex      string    // RE2 expression, instead of Terms
	User       User      // "" for every user
	Session    SessionID // only in this one, including what it shows of its parent
	Role       Role
	Agent      string
	Project    string // path or repository, or the end of it after a slash; see [search.InProject]
	Repository string // with Project: sessions of either
	Origin     string
	Tool       string // only calls and results of this tool, A to Z in any case
	Path       string // only messages whose tools or files name a path that contains this
	Failed     bool   // only errors
	Since      Time   // 0 for no bound
	Until      Time
	Rewound    bool          // also what was taken back; Hit.Rewound marks it
	Each       bool          // every message, not the best of each session
	Newest     bool          // with Each: the newest matches, not the best; no text changes their order, and Hit.Score is 0
	Whole      bool          // Hit.Event too; with Each, the hits end where these take MaxWhole bytes, and CutOff is set
	Limit      int           // at most this many hits; 0 is 20
	Deadline   time.Duration // how much to search: as much as takes this long on an idle machine; 0 is 150 ms. See [search.Budget], [search.Widen]
}

// MostHits returns how many hits the query asks for: Limit, or 20.
func (q *Query) MostHits() int {
	if q.Limit > 0 {
		return q.Limit
	}
	return 20
}

// A Term is one thing to look for. Words are compared ignoring case, and an
// index may compare them by their stem. [search.Phrases] says what to look for.
type Term struct {
	Words  []string // one word, or a phrase
	Any    bool     // any of the words, not the phrase
	Prefix bool     // the last word is the beginning of one
	Not    bool     // must not occur
}

// Results answer a [Query].
type Results struct {
	Hits   []Hit
	CutOff bool // only the newest were searched: there may be better hits
}

// A Hit is a message that matches.
type Hit struct {
	Session SessionID
	Seq     Seq
	Turn    int // 0 before the first
	Role    Role
	Time    Time
	Score   float64 // higher is better; comparable only within one search
	Snippet string  // some words around the match, the matching ones between Mark and EndMark
	Count   int     // matching events of the session among those searched, as Query.Each gives them: messages, titles, summaries; 0 if not counted
	Rewound bool    // it was taken back
	Event   *Event  // the event, as it was amended; nil unless Query.Whole asks for it, or if it is damaged
}

// Mark and EndMark enclose what matched in [Hit.Snippet]. If the text has these
// characters itself, they are removed from the snippet.
const (
	Mark    = "\x02"
	EndMark = "\x03"
)

// A Fragment is a piece of a snippet: what matched, or text around it.
type Fragment struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty"`
}

// Fragments splits [Hit.Snippet] at its marks: the texts, joined, are the snippet
// without them.
func (h *Hit) Fragments() (all []Fragment) {
	rest := h.Snippet
	for match := false; rest != ""; match = !match {
		end := Mark
		if match {
			end = EndMark
		}
		var text string
		if text, rest, _ = strings.Cut(rest, end); text != "" {
			all = append(all, Fragment{text, match})
		}
	}
	return all
}

// Fits reports whether f selects s, ignoring its fields Before, LargerThan and
// Limit. A store uses it to check candidates that its index finds only roughly.
func (f *Filter) Fits(s *Session) bool {
	var parent Parent
	if s.Parent != nil {
		parent = *s.Parent
	}
	var origin string
	if s.Origin != nil {
		origin = s.Origin.Format
	}
	for _, x := range []struct{ want, is string }{
		{string(f.User), string(s.User)},
		{f.Key, s.Key},
		{f.Agent, s.Agent},
		{f.Profile, s.Profile},
		{f.Model, s.Model},
		{f.Origin, origin},
		{f.Surface, s.Surface},
		{string(f.Parent), string(parent.Session)},
	} {
		if x.want != "" && x.want != x.is {
			return false
		}
	}
	return f.Bin == (s.Binned != 0) && in(f.Project, f.Repository, s.Project, s.Checkout.Repository) &&
		(f.Tag == "" || slices.Contains(s.Tags, f.Tag)) &&
		(!f.Pinned || s.Pinned) &&
		(!f.Born || s.Origin == nil) &&
		(!f.NoChildren || parent.Why != Child) &&
		(f.Since == 0 || s.Updated >= f.Since) &&
		(f.Until == 0 || s.Updated < f.Until) &&
		(len(f.IDs) == 0 || slices.Contains(f.IDs, s.ID)) &&
		strings.HasPrefix(string(s.ID), f.IDPrefix) &&
		strings.HasSuffix(string(s.ID), f.IDSuffix) &&
		(f.IncludeEmpty || s.Last > 1) &&
		(!f.WithOpenCalls || len(s.Open) > 0) &&
		f.fitsAmong(s) &&
		f.fitsTitle(s)
}

func (f *Filter) fitsTitle(s *Session) bool {
	return f.Title == "" || strings.Contains(strings.ToLower(cmp.Or(s.Title, s.First)), strings.ToLower(f.Title))
}

// Compare compares s and t by the order of [Store.Sessions]. It is negative if s
// comes before t.
func (s *Session) Compare(t *Session) int {
	return cmp.Or(cmp.Compare(t.Updated, s.Updated), cmp.Compare(s.ID, t.ID))
}

// A Dimension is what usage is summed, or sessions are counted, by.
type Dimension string

// The dimensions.
const (
	ByDay        Dimension = "day"
	ByModelID    Dimension = "model"
	ByAgent      Dimension = "agent"
	ByProject    Dimension = "project"
	ByRepository Dimension = "repository" // its project's path for a session whose repository is unknown
	BySession    Dimension = "session"
	ByBranch     Dimension = "branch"
	BySlot       Dimension = "slot"    // the quarter hour; of a session, the one in which it was updated
	BySurface    Dimension = "surface" // of sessions only, as the following
	ByTag        Dimension = "tag"
	ByState      Dimension = "state" // a [WorkState], by what the events say
)

// A UsageQuery asks for sums of usage.
type UsageQuery struct {
	By           Dimension
	Then         Dimension   // each value of By by this too; "" for one sum
	User         User        // "" for every user
	Sessions     []SessionID // only these ones' own; empty for all
	Project      string
	Repository   string // with Project: what belongs to either
	Agent        string
	Since, Until Time           // to the quarter hour; 0 for no bound
	Zone         *time.Location // whose days; nil is UTC
}

// Check checks that usage can be summed by q.By and q.Then; "" is [ByDay] and nothing.
//
// The error wraps [ErrInvalid].
func (q UsageQuery) Check() error {
	for _, by := range []Dimension{q.By, q.Then} {
		switch by {
		case "", ByDay, BySlot, ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySession:
		default:
			return Invalidf("usage by %.100q: want %s, %s, %s, %s, %s, %s, %s or %s", by, ByDay, BySlot, ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySession)
		}
	}
	return nil
}

// In reports whether a session of the project and repository is among those that q
// asks for.
func (q *UsageQuery) In(project, repository string) bool {
	return in(q.Project, q.Repository, project, repository)
}

// in reports whether a session of the project and repository is in either of those
// that are wanted, "" for none. If neither is wanted, every session is.
func in(wantProject, wantRepository, project, repository string) bool {
	return wantProject == "" && wantRepository == "" ||
		wantProject != "" && wantProject == project ||
		wantRepository != "" && wantRepository == repository
}

// A UsageRow is one sum. There is one for each value of the dimension, each
// model and each tier, because prices differ by model and tier.
type UsageRow struct {
	Of       string // 2026-11-21, 2026-11-21T12:15:00.000Z, a model, an agent, a project, a repository, a branch, a SessionID
	Then     string // the same of UsageQuery.Then
	Provider string
	Model    string
	Tier     Tier
	Usage    Usage
	Recorded Usage // the part of Usage of the requests whose cost the source reported
}

// A Usage is what model requests used. Token counts are the provider's own; a
// count that it does not report is 0.
type Usage struct {
	Input      int64 `json:"input,omitempty"`       // tokens read, not counting CacheRead and CacheWrite
	Output     int64 `json:"output,omitempty"`      // tokens written, Reasoning included
	Reasoning  int64 `json:"reasoning,omitempty"`   // part of Output
	CacheRead  int64 `json:"cache_read,omitempty"`  // tokens read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitempty"` // tokens written to it
	CacheHour  int64 `json:"cache_hour,omitempty"`  // part of CacheWrite: kept for an hour, which costs more than for five minutes
	Requests   int64 `json:"requests,omitempty"`    // model requests; set by the fold
	Reported   int64 `json:"reported,omitempty"`    // cost that the source reported, in billionths of a US dollar; 0 if it did not
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		CacheHour:  u.CacheHour + v.CacheHour,
		Requests:   u.Requests + v.Requests,
		Reported:   u.Reported + v.Reported,
	}
}

// Minus returns u minus v, field by field.
func (u Usage) Minus(v Usage) Usage {
	return u.Plus(Usage{-v.Input, -v.Output, -v.Reasoning, -v.CacheRead, -v.CacheWrite, -v.CacheHour, -v.Requests, -v.Reported})
}

// recorded returns u if it is of a request whose cost the source reported, else
// nothing.
func (u Usage) recorded() Usage {
	if u.Reported == 0 {
		return Usage{}
	}
	return u
}

// Merge returns the usage of one request for which first u, then v was reported:
// the larger output, since it grows while an answer streams, and, of every other
// counter, the later value that is not 0. CacheHour stays a part of CacheWrite.
func (u Usage) Merge(v Usage) Usage {
	later := func(a, b int64) int64 {
		if b != 0 {
			return b
		}
		return a
	}
	return Usage{
		Input:      later(u.Input, v.Input),
		Output:     max(u.Output, v.Output),
		Reasoning:  max(u.Reasoning, v.Reasoning),
		CacheRead:  later(u.CacheRead, v.CacheRead),
		CacheWrite: later(u.CacheWrite, v.CacheWrite),
		CacheHour:  min(later(u.CacheHour, v.CacheHour), later(u.CacheWrite, v.CacheWrite)),
		Requests:   max(u.Requests, v.Requests),
		Reported:   max(u.Reported, v.Reported),
	}
}

// Tokens returns all tokens of u: read, written and cached.
func (u Usage) Tokens() int64 { return u.Prompt() + u.Output }

// Prompt returns all tokens of the prompt: new, read from the cache, and written to it.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// A Charge is what one event says about the cost of one request.
type Charge struct {
	Request  string // provider request ID; the store counts each once per user
	Provider string
	Model    string
	Tier     Tier // by this event alone; [Added.Tier] also considers the events before
	Several  bool // Usage is of several requests, of whose prompts nothing is known
	Time     Time
	Usage    Usage // Requests is 1
}

// tier returns the tier of the request if its usage is u.
func (c *Charge) tier(service string, u Usage) Tier {
	if c.Several {
		return TierOf(service, 0)
	}
	return TierOf(service, u.Prompt())
}

// A Tier is what, besides the model, determines the price of a request: its service
// tier and the length of its prompt. It is the service tier (batch, flex, priority
// or fast; "" for the usual one) and, if the prompt exceeded one of the lengths
// above which some provider charges more, ">" and the greatest such length that it
// exceeded: "", "batch", ">200000", "batch>200000".
type Tier string

// longPrompts are the lengths in tokens above which prompts cost more, for any
// provider. A test of the prices checks that they use no others.
var longPrompts = []int64{128_000, 199_999, 200_000, 271_999, 272_000, 512_000}

// ServiceTier returns the service tier that a provider calls word: batch, flex,
// priority or fast; "" for the usual one, which providers call standard or
// default, and for words that are not known to change the price.
func ServiceTier(word string) string {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "batch", "flex", "priority", "fast":
		return word
	}
	return ""
}

// TierOf returns the tier of a request with this service tier, as its provider
// calls it, and a prompt of this many tokens.
func TierOf(service string, prompt int64) Tier {
	service = ServiceTier(service)
	above := int64(0)
	for _, n := range longPrompts {
		if prompt > n {
			above = n
		}
	}
	if above == 0 {
		return Tier(service)
	}
	return Tier(service + ">" + strconv.FormatInt(above, 10))
}

// Service returns the service tier: batch, flex, priority or fast; "" for the
// usual one.
func (t Tier) Service() string {
	service, _, _ := strings.Cut(string(t), ">")
	return service
}

// Above returns the greatest length above which some provider charges more and
// that the prompt exceeded; 0 if there is none.
func (t Tier) Above() int64 {
	_, above, _ := strings.Cut(string(t), ">")
	n, err := strconv.ParseInt(above, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
