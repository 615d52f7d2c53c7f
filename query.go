package skein

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// MaxWhole is about how many bytes the events of a search's hits take at most, see
// [Query].Whole.
const MaxWhole = 8 << 20

// A Query asks for messages. [search.Parse] makes one of what a person typed;
// [search.NewMatcher] says what it means. One with conditions and no words gives
// what fulfils them; one with nothing at all matches nothing.
type Query struct {
	Terms     []Term    // all must hold
	Substring string    // exact text, case ignored, instead of Terms
	Regex     string    // RE2 expression, instead of Terms
	User      User      // "" for every user
	Session   SessionID // only in this one, what it shows of its parent included
	Role      Role
	Agent     string
	Project   string // its path, or the end of it after a slash; see [search.InProject]
	Origin    string
	Tool      string // only calls and results of this tool, A to Z in any case
	Path      string // only messages whose tools or files name a path that contains this
	Failed    bool   // only errors
	Since     Time   // 0 for no bound
	Until     Time
	Rewound   bool          // also what was taken back; Hit.Rewound marks it
	Each      bool          // every message, not the best of each session
	Whole     bool          // Hit.Event too; with Each, the hits end where these take MaxWhole bytes, and CutOff says so
	Limit     int           // at most this many hits; 0 is 20
	Deadline  time.Duration // how much to look at: what takes so long where nothing else runs; 0 is 150 ms. See [search.Budget], [search.Widen]
}

// MostHits returns how many hits the query asks for: Limit, or 20.
func (q *Query) MostHits() int {
	if q.Limit > 0 {
		return q.Limit
	}
	return 20
}

// A Term is one thing to look for. Words are compared without case, and an
// index may compare them by their stem. [search.Phrases] says what to look for.
type Term struct {
	Words  []string // one word, or a phrase
	Prefix bool     // the last word is the beginning of one
	Not    bool     // must not occur
}

// Results answer a [Query].
type Results struct {
	Hits   []Hit
	CutOff bool // not all was looked at, the newest was: there may be better ones
}

// A Hit is a message that matches.
type Hit struct {
	Session SessionID
	Seq     Seq
	Turn    int // 0 before the first
	Role    Role
	Time    Time
	Score   float64 // higher is better; only hits of one search compare
	Snippet string  // some words around the match, the matching ones between Mark and EndMark
	Count   int     // events of the session that match, of those that were looked at, as Query.Each gives them: messages, titles, summaries; 0 if not counted
	Rewound bool    // it was taken back
	Event   *Event  // what stands there, as it was amended; nil unless Query.Whole asks for it, or if it is damaged
}

// Mark and EndMark stand around what matched in [Hit.Snippet]. Text from
// transcripts that has these characters has them taken out of the snippet.
const (
	Mark    = "\x02"
	EndMark = "\x03"
)

// A Fragment is a piece of a snippet: what matched, or text around it.
type Fragment struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty"`
}

// Fragments takes [Hit.Snippet] apart at its marks: the texts, one after the other,
// are the snippet without them.
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

// Fits reports whether f lets s through, its fields Before, LargerThan and Limit
// aside: what a store's index cannot say exactly can be held against it.
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
		{f.Project, s.Project},
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
	return f.Bin == (s.Binned != 0) &&
		(f.Tag == "" || slices.Contains(s.Tags, f.Tag)) &&
		(!f.Pinned || s.Pinned) &&
		(!f.Born || s.Origin == nil) &&
		(!f.NoChildren || parent.Why != Child) &&
		(f.Since == 0 || s.Updated >= f.Since) &&
		(f.Until == 0 || s.Updated < f.Until) &&
		strings.HasPrefix(string(s.ID), f.IDPrefix) &&
		strings.HasSuffix(string(s.ID), f.IDSuffix) &&
		(f.IncludeEmpty || s.Last > 1) &&
		(!f.WithOpenCalls || len(s.Open) > 0) &&
		f.fitsTitle(s)
}

func (f *Filter) fitsTitle(s *Session) bool {
	return f.Title == "" || strings.Contains(strings.ToLower(cmp.Or(s.Title, s.First)), strings.ToLower(f.Title))
}

// Compare compares s and t by the order of [Store.Sessions]: negative if s comes
// before t.
func (s *Session) Compare(t *Session) int {
	return cmp.Or(cmp.Compare(t.Updated, s.Updated), cmp.Compare(s.ID, t.ID))
}

// A Dimension is what usage is summed by.
type Dimension string

// The dimensions.
const (
	ByDay     Dimension = "day"
	ByModelID Dimension = "model"
	ByAgent   Dimension = "agent"
	ByProject Dimension = "project"
	BySession Dimension = "session"
)

// A UsageQuery asks for sums of usage.
type UsageQuery struct {
	By           Dimension
	User         User      // "" for every user
	Session      SessionID // only this one's own
	Project      string
	Agent        string
	Since, Until Time           // to the quarter hour; 0 for no bound
	Zone         *time.Location // whose days; nil is UTC
}

// Check tells whether usage can be summed by q.By; "" is [ByDay].
//
// The error wraps [ErrInvalid].
func (q UsageQuery) Check() error {
	switch q.By {
	case "", ByDay, ByModelID, ByAgent, ByProject, BySession:
		return nil
	}
	return Invalidf("usage by %.100q: want %s, %s, %s, %s or %s", q.By, ByDay, ByModelID, ByAgent, ByProject, BySession)
}

// A UsageRow is one sum. There is one for each value of the dimension, each
// model and each tier, because prices differ by model and tier.
type UsageRow struct {
	Of       string // 2026-11-21, a model, an agent, a project, a SessionID
	Provider string
	Model    string
	Tier     Tier
	Usage    Usage
}
