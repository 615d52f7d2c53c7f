package skein

import (
	"cmp"
	"slices"
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

// fitsAmong reports whether s has one of the values that f.Among has for each
// dimension.
func (f *Filter) fitsAmong(s *Session) bool {
	for by, want := range f.Among {
		if len(want) > 0 && !slices.ContainsFunc(by.Values(s), func(is string) bool { return slices.Contains(want, is) }) {
			return false
		}
	}
	return true
}

// Chosen returns the dimensions for which f.Among has values, in order.
func (f *Filter) Chosen() (all []Dimension) {
	for by, want := range f.Among {
		if len(want) > 0 {
			all = append(all, by)
		}
	}
	slices.Sort(all)
	return all
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

// Counts checks that sessions can be counted, and chosen, by d.
//
// The error wraps [ErrInvalid].
func (d Dimension) Counts() error {
	switch d {
	case ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySurface, ByTag, ByState, BySlot:
		return nil
	}
	return Invalidf("sessions by %.100q: want %s, %s, %s, %s, %s, %s, %s, %s or %s", d, ByModelID, ByAgent, ByProject, ByRepository, ByBranch, BySurface, ByTag, ByState, BySlot)
}

// Values returns what d has in the session s: its tags, and one value of anything
// else that sessions are counted by.
func (d Dimension) Values(s *Session) []string {
	switch d {
	case ByModelID:
		return []string{s.Model}
	case ByAgent:
		return []string{s.Agent}
	case ByProject:
		return []string{s.Project}
	case ByRepository:
		return []string{cmp.Or(s.Checkout.Repository, s.Project)}
	case ByBranch:
		return []string{s.Checkout.Branch}
	case BySurface:
		return []string{s.Surface}
	case ByTag:
		return s.Tags
	case ByState:
		return []string{string(cmp.Or(s.Activity.State, StateIdle))}
	case BySlot:
		return []string{s.Updated.Slot().String()}
	}
	return nil
}

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
