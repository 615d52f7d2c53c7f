package skein

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Session is the state that results from the events of one session, and what a
// store keeps beside them.
type Session struct {
	ID          SessionID `json:"id"`
	Key         string    `json:"key,omitempty"`
	User        User      `json:"user"`
	Title       string    `json:"title,omitempty"` // "" if nobody gave one; see Name
	TitleBy     By        `json:"title_by,omitempty"`
	Description string    `json:"description,omitempty"`
	First       string    `json:"first_words,omitempty"` // of what a person typed first, at most 200 bytes on one line
	LastPrompt  string    `json:"last_prompt,omitempty"` // the same of what a person typed last
	Surface     string    `json:"surface,omitempty"`
	Project     string    `json:"project,omitempty"`
	Cwd         string    `json:"cwd,omitempty"`
	Checkout    Checkout  `json:"checkout,omitzero"` // as it was said last
	Agent       string    `json:"agent,omitempty"`
	Profile     string    `json:"profile,omitempty"`
	Provider    string    `json:"provider,omitempty"`
	Model       string    `json:"model,omitempty"` // of the newest answer, or as set
	Parent      *Parent   `json:"parent,omitempty"`
	Origin      *Origin   `json:"origin,omitempty"`
	Gone        Time      `json:"gone_at,omitzero"` // when an import found that the file of Origin is gone; 0 if it is there
	Status      string    `json:"status,omitempty"`
	Pinned      bool      `json:"pinned,omitempty"`
	Tags        []string  `json:"tags,omitempty"`
	Created     Time      `json:"created_at,omitzero"` // time of its own first event
	Updated     Time      `json:"updated_at,omitzero"` // when something was last said or done: the latest time among its own events but those of Touched, unless only they have one
	Touched     Time      `json:"touched_at,omitzero"` // housekeeping: the latest time among its own titled, changed, resumed and ended events and notes of a scrub; 0 if there was none
	Base        Seq       `json:"base,omitempty"`      // fork: the events up to here are the parent's; 0 otherwise
	Last        Seq       `json:"last"`                // seq of its last event; 0 before the first
	Messages    int       `json:"messages"`            // live messages, including those that it shows of its parent; without what was taken back or withdrawn
	Turns       int       `json:"turns"`               // how many of them a person typed
	Undone      Counts    `json:"undone,omitzero"`     // what was taken back or withdrawn; turns are numbered as if it were live
	Compactions int       `json:"compactions,omitempty"`
	Usage       Usage     `json:"usage,omitzero"` // its own, without what it shows of its parent
	Open        []string  `json:"open_calls,omitempty"`
	Uncertain   int       `json:"uncertain,omitempty"` // calls whose outcome nobody knows
	Activity    Activity  `json:"activity,omitzero"`
	Revision    int       `json:"revision,omitempty"`  // incremented by every scrub
	Binned      Time      `json:"binned_at,omitzero"`  // 0 if it is not in the bin
	LockedBy    string    `json:"locked_by,omitempty"` // holder of the lease, for people; "" if there is none
	Damaged     bool      `json:"damaged,omitempty"`   // its texts were altered in the store, and are what could be read of its events, some of which are damaged too
}

// Counts are a number of messages and how many of them a person typed.
type Counts struct {
	Messages int `json:"messages"`
	Turns    int `json:"turns"`
}

// LeftRunning reports whether the calls that s's events show as running are not
// running: its lease is not held, so their program has died, and nobody knows whether
// they took effect. It is false for an imported session, since other programs take no
// lease.
func (s *Session) LeftRunning() bool { return s.LockedBy == "" && s.Origin == nil }

// maxWords is the length of Session.First and LastPrompt, in bytes.
const maxWords = 200

// Name returns the name of s in a list: its title, else its first words, else
// its ID, which is marked if a title or words may have been lost.
func (s *Session) Name() string {
	switch {
	case s.Title != "":
		return s.Title
	case s.First != "":
		return s.First
	case s.Damaged:
		return "damaged session " + string(s.ID)
	}
	return string(s.ID)
}

// Rewinding returns the events that rewind s to the seq to: a rewind and, before it, if
// nothing remains that a person typed and s has no title, a title of its first words,
// which would no longer name it. first is the seq of the first turn.
func (s *Session) Rewinding(at Time, to, first Seq) (all []Event) {
	if s.Title == "" && s.First != "" && to < first {
		all = append(all, NewEvent(KindTitled, at, Titled{Title: s.First, By: BySource}))
	}
	return append(all, NewEvent(KindRewound, at, Rewound{To: to}))
}

// Clearing returns the events that take everything said in s out of its context.
func (s *Session) Clearing(at Time) []Event { return s.Rewinding(at, 0, 1) }

// Prior is what a store looks up before it adds an event to a session: what came
// before of the same message and of the same request.
type Prior struct {
	Message bool  // the event is a further piece of a message, an earlier piece of which is live; see [LiveMessages.Joins]
	Charged Usage // what was counted for the same Charge.Request; zero if nothing was
	Base    Shown // for a created event of a fork: what the parent had at that seq
}

// Shown is what a fork shows of its parent, as it was right after the event that
// the fork starts at: whatever happens in the parent later changes nothing.
type Shown struct {
	Messages, Turns int
	Undone          Counts
	First           string
	LastPrompt      string
	Project, Cwd    string
	Checkout        Checkout
	Agent, Model    string
}

// Added is what one event added to a session. Stores keep it beside the event.
type Added struct {
	Piece   bool  // it is a further piece of a message counted before
	Stale   bool  // it took back, withdrew or changed messages: call Session.SetShown with what is live now before the session is read
	Turn    int   // turn that the event belongs to; 0 before the first
	Charge  Usage // what to add to the usage; zero if nothing
	Tier    Tier  // of the request, by everything that is now counted for it
	Counted Usage // what is now counted for the request in total

	// Recorded is what to add to the usage of the requests whose cost the source
	// reported: more than Charge if it reports the cost of a request that was counted
	// before.
	Recorded Usage
}

// Apply adds the event e, with the facts f, to s, sets e.Seq to the next seq, and
// returns what the event added. It is the only place where events become a
// session: every store uses it instead of repeating it.
//
// The error wraps [ErrExists] if s has begun and e is a created event,
// [ErrNotFound] if s has not begun and e is not one, [ErrInvalid] if e refers to
// a seq that is not before it. On error s and e are unchanged.
func (s *Session) Apply(e *Event, f Facts, p Prior) (a Added, err error) {
	if begun := s.Last > s.Base; begun == (f.Created != nil) {
		if begun {
			return a, fmt.Errorf("session %s %w", s.ID, ErrExists)
		}
		return a, fmt.Errorf("session %s %w: its first event must be created, not %s", s.ID, ErrNotFound, e.Kind)
	}
	if err := s.checkSeqs(f); err != nil {
		return a, err
	}
	switch {
	case f.Created != nil:
		if err := s.create(f.Created, p.Base); err != nil {
			return a, err
		}
		s.Created = e.Time
	case f.Message != nil:
		a.Piece = s.say(f, p)
	case f.Rewound != nil, f.Amended != nil:
		a.Stale = true
	case f.Titled != nil && rank(f.Titled.By) >= rank(s.TitleBy):
		if !f.Titled.Wrapped() {
			s.Title = f.Titled.Title
		}
		s.TitleBy, s.Description = f.Titled.By, f.Titled.Description
	case f.Changed != nil:
		s.change(f.Changed)
	case f.Compacted != nil && !f.Compacted.Failed:
		s.Compactions++
	case f.Tool != nil:
		s.tool(f.Tool)
	}
	if f.Charge != nil {
		a.Counted = p.Charged.Merge(f.Charge.Usage)
		a.Charge = a.Counted.Minus(p.Charged)
		a.Recorded = a.Counted.recorded().Minus(p.Charged.recorded())
		a.Tier = f.Charge.tier(f.Charge.Tier.Service(), a.Counted)
		s.Usage = s.Usage.Plus(a.Charge)
	}
	a.Turn = s.Ever().Turns
	s.Created = earliest(s.Created, e.Time)
	s.date(e)
	s.Last++
	e.Seq = s.Last
	s.Activity.add(e, &f, s.Origin != nil)
	return a, nil
}

// date updates Touched if e is housekeeping, else Updated. As long as nothing was
// said or done, Updated is the time of the first housekeeping.
func (s *Session) date(e *Event) {
	keeping := e.housekeeping()
	if keeping {
		s.Touched = max(s.Touched, e.Time)
	}
	if !keeping || s.Updated == 0 {
		s.Updated = max(s.Updated, e.Time)
	}
}

// earliest returns created, or t if created is not known.
func earliest(created, t Time) Time {
	if created == 0 {
		return t
	}
	return created
}

func (s *Session) checkSeqs(f Facts) error {
	bad := func(what string, seq, min Seq) error {
		if seq < min || seq > s.Last {
			return Invalidf("%s %d: session %s has the events 1 to %d", what, seq, s.ID, s.Last)
		}
		return nil
	}
	switch {
	case f.Rewound != nil:
		return bad("rewound: to", f.Rewound.To, 0)
	case f.Compacted != nil:
		return bad("compacted: to", f.Compacted.To, 0)
	case f.Amended != nil:
		return bad("amended: seq", f.Amended.Seq, s.Base+1)
	}
	return nil
}

func (s *Session) create(c *Created, base Shown) error {
	fork := c.Parent.IsFork()
	switch {
	case fork && c.Parent.Seq < 1:
		return Invalidf("fork: seq %d of %s", c.Parent.Seq, c.Parent.Session)
	case fork && c.Key != "":
		return Invalidf("fork: key %q: a fork has none", c.Key)
	case c.Parent != nil && c.Parent.Session == s.ID:
		return Invalidf("session %s: it cannot be its own parent", s.ID)
	}
	if err := checkName("key", c.Key, false); err != nil {
		return err
	}
	if err := checkName("user", string(c.User), false); err != nil {
		return err
	}
	s.Key, s.User, s.Surface = c.Key, c.User, c.Surface
	if !c.Wrapped() {
		s.Title = c.Title
	}
	s.Project, s.Cwd, s.Agent, s.Profile = c.Project, c.Cwd, c.Agent, c.Profile
	if c.Checkout != nil {
		s.Checkout = *c.Checkout
	}
	s.Provider, s.Model, s.Parent, s.Origin = c.Provider, c.Model, c.Parent, c.Origin
	if s.User == "" {
		s.User = Local
	}
	if s.Title != "" {
		s.TitleBy = BySource
	}
	if fork {
		s.Base, s.Last = c.Parent.Seq, c.Parent.Seq
		s.SetShown(base)
		s.Undone = base.Undone
		s.Project, s.Cwd = cmp.Or(s.Project, base.Project), cmp.Or(s.Cwd, base.Cwd)
		s.Checkout = base.checkout(c)
		s.Agent, s.Model = cmp.Or(s.Agent, base.Agent), cmp.Or(s.Model, base.Model)
	}
	return nil
}

// Ever counts the live messages and those that were undone. The newest turn has
// the number Ever().Turns.
func (s *Session) Ever() Counts {
	return Counts{s.Messages + s.Undone.Messages, s.Turns + s.Undone.Turns}
}

// SetShown sets what is said about the live messages: Messages, Turns, First and
// LastPrompt of x.
func (s *Session) SetShown(x Shown) {
	ever := s.Ever()
	s.Undone = Counts{ever.Messages - x.Messages, ever.Turns - x.Turns}
	s.Messages, s.Turns, s.First, s.LastPrompt = x.Messages, x.Turns, x.First, x.LastPrompt
}

// say counts a message; piece reports that it was counted before.
func (s *Session) say(f Facts, p Prior) (piece bool) {
	m := f.Message
	if piece = m.ID != "" && p.Message; !piece {
		s.Messages++
		if m.Typed() {
			s.Turns++
			s.LastPrompt = cmp.Or(m.Prompt(), s.LastPrompt)
			s.First = cmp.Or(s.First, s.LastPrompt)
		}
	}
	if m.Role == RoleAssistant && m.Model != "" && !m.Synthetic {
		s.Model = m.Model
		s.Provider = cmp.Or(m.Provider, s.Provider)
	}
	return piece
}

// FirstWords returns the beginning of text, at most 200 bytes, on one line, as
// Session.First and LastPrompt hold it.
func FirstWords(text string) string {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	cut := text[:min(len(text), 4*maxWords)]
	line := strings.Join(strings.Fields(strings.ToValidUTF8(cut, "")), " ")
	if len(line) <= maxWords {
		return line
	}
	n := maxWords
	for !utf8.RuneStart(line[n]) {
		n--
	}
	return line[:n]
}

func (s *Session) change(c *Changed) {
	set := func(to, from *string) {
		if from != nil {
			*to = *from
		}
	}
	set(&s.Key, c.Key)
	set(&s.Model, c.Model)
	set(&s.Provider, c.Provider)
	set(&s.Agent, c.Agent)
	set(&s.Profile, c.Profile)
	s.move(c)
	set(&s.Status, c.Status)
	if c.Gone != nil {
		s.Gone = *c.Gone
	}
	if c.Pinned != nil {
		s.Pinned = *c.Pinned
	}
	if c.Tags != nil {
		s.Tags = slices.Compact(slices.Sorted(slices.Values(*c.Tags)))
	}
}

// move sets where the session works. What was looked up belongs to its project, and
// the subfolder to its folder.
func (s *Session) move(c *Changed) {
	if c.Project != nil && *c.Project != s.Project {
		s.Project, s.Checkout = *c.Project, s.Checkout.Recorded()
	}
	if c.Cwd != nil && *c.Cwd != s.Cwd {
		s.Cwd, s.Checkout = *c.Cwd, s.Checkout.elsewhere()
	}
	if c.Checkout != nil {
		s.Checkout = s.Checkout.then(*c.Checkout)
	}
}

// tool records which calls are running, so that those of a dead program can be
// found. A pending call is not running.
func (s *Session) tool(t *ToolState) {
	i := slices.Index(s.Open, t.Call)
	switch {
	case t.State == Running:
		if i < 0 {
			s.Open = append(slices.Clone(s.Open), t.Call)
		}
		return
	case t.State == Uncertain:
		s.Uncertain++
	}
	if i >= 0 {
		s.Open = slices.Delete(slices.Clone(s.Open), i, i+1)
	}
}

func rank(b By) int {
	switch b {
	case ByPerson:
		return 3
	case ByModel:
		return 2
	case BySource:
		return 1
	}
	return 0
}
