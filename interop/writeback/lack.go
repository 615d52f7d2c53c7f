package writeback

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/reconcile"
)

// A lack collects what a format's reader makes of what was just written, to find what
// of the session is missing there: what the format cannot hold is reported even if its
// Write did not report it.
type lack struct {
	kinds   map[skein.Kind]int
	notes   map[string]int
	charged bool            // a request, or a message, has its usage
	used    spending        // the usage of all of them
	hours   map[int64]bool  // how much of the cache writes is cached for an hour
	tiers   map[string]bool // the service tiers
	title   string
	about   skein.Titled
	created skein.Created
	hangs   bool           // it has a parent
	first   skein.ClientID // the key of the first step of the conversation
	changed skein.Changed
	profile string
	models  map[string]bool // that answered
	places  map[string]bool // repositories, branches and commits
	failed  map[string]bool // why messages and requests failed
	told    map[string]bool // system prompts and tool lists, by their hashes
	system  bool            // it has a system message
}

func newLack() *lack {
	return &lack{kinds: map[skein.Kind]int{}, notes: map[string]int{}, hours: map[int64]bool{}, tiers: map[string]bool{}, used: spending{}, models: map[string]bool{}, places: map[string]bool{}, failed: map[string]bool{}, told: map[string]bool{}}
}

// A spending is what requests used, by their IDs, or those of the messages that are
// their answers: several events may report parts of one request.
type spending map[string]skein.Usage

// add adds what was reported of a request; without an ID, it is one of its own.
func (s spending) add(u *skein.Usage, ids ...string) {
	if u == nil {
		return
	}
	of := cmp.Or(append(ids, "\x00"+strconv.Itoa(len(s)))...)
	s[of] = s[of].Merge(*u)
}

func (s spending) sum() (all skein.Usage) {
	for _, u := range s {
		all = all.Plus(u)
	}
	return all
}

// take adds what a record made of the file's main session.
func (k *lack) take(m interop.Made) {
	for _, b := range m.Begin {
		if b.Name == "" {
			k.created = b.Created
			k.hangs = b.Created.Parent != nil || b.Of != "" || b.ParentID != ""
			k.title, k.profile = b.Created.Title, b.Created.Profile
			k.models[b.Created.Model] = true
			k.at(b.Created.Checkout)
		}
	}
	for _, it := range m.Items {
		if it.Session == "" {
			k.event(it.Event)
			if k.first == "" && !m.Floating && reconcile.Talks(it.Event.Kind) {
				k.first = m.Key
			}
		}
	}
	for _, a := range m.Apart {
		k.event(a.Event)
	}
}

func (k *lack) event(e skein.Event) {
	k.kinds[e.Kind]++
	switch e.Kind {
	case skein.KindSaid:
		if m, err := skein.Decode[skein.Message](e); err == nil {
			k.charge(m.Usage, m.Tier)
			k.used.add(m.Usage, m.Request, m.ID)
			k.models[m.Model] = true
			k.system = k.system || m.Role == skein.RoleSystem
			k.fails(m.Error)
		}
	case skein.KindStep:
		if s, err := skein.Decode[skein.Step](e); err == nil {
			k.charge(s.Usage, s.Tier)
			k.used.add(s.Usage, s.Request)
			k.models[s.Model] = true
			k.told[s.Prompt], k.told[s.Tools] = true, true
			k.fails(s.Error)
		}
	case skein.KindTitled:
		if t, err := skein.Decode[skein.Titled](e); err == nil {
			k.title, k.about = t.Title, t
		}
	case skein.KindChanged:
		if c, err := skein.Decode[skein.Changed](e); err == nil {
			k.change(c)
		}
	case skein.KindNoted:
		if n, err := skein.Decode[skein.Noted](e); err == nil {
			k.notes[n.Name]++
		}
	}
}

func (k *lack) fails(e *skein.ErrorInfo) {
	if e != nil {
		k.failed[e.Message] = true
	}
}

// unfailed adds that it is missing why a message or request failed.
func (k *lack) unfailed(at skein.Seq, e *skein.ErrorInfo, ls *interop.Losses) {
	if e != nil && !k.failed[e.Message] && !slices.ContainsFunc(*ls, func(l interop.Loss) bool { return strings.HasPrefix(l.What, "errors") }) {
		ls.Add(at, "why it failed: left out")
	}
}

// untold adds what is missing of what a model was told.
func (k *lack) untold(at skein.Seq, s skein.Step, ls *interop.Losses) {
	if s.Prompt != "" && !k.told[s.Prompt] && !k.system {
		ls.Add(at, "system prompt: left out")
	}
	if s.Tools != "" && !k.told[s.Tools] {
		ls.Add(at, "tools that the model was offered: left out")
	}
}

// charge adds what a request, or a message, used and in which service tier.
func (k *lack) charge(u *skein.Usage, tier string) {
	if u != nil {
		k.charged, k.hours[u.CacheHour] = true, true
	}
	k.tiers[tier] = true
}

// uncharged adds what is missing of the usage. It is reported even if the format has
// reported the event: that is about its text.
func (k *lack) uncharged(at skein.Seq, u *skein.Usage, tier string, ls *interop.Losses) {
	switch {
	case u != nil && !k.charged:
		ls.Add(at, "what requests used: left out")
	case u != nil && u.CacheHour > 0 && !k.hours[u.CacheHour]:
		ls.Add(at, "what a request cached for an hour: left out")
	}
	if tier != "" && !k.tiers[tier] {
		ls.Add(at, "service tiers: left out")
	}
}

// at adds a repository, branch and commit.
func (k *lack) at(x *skein.Checkout) {
	if x != nil {
		k.places[x.Repository], k.places[x.Branch], k.places[x.Commit] = true, true, true
	}
}

// unplaced adds what is missing of what an event says was checked out.
func (k *lack) unplaced(at skein.Seq, x *skein.Checkout, ls *interop.Losses) {
	if x == nil {
		return
	}
	var lost []string
	said := x.Recorded()
	for _, is := range []struct{ value, what string }{{said.Repository, "repository"}, {said.Branch, "branch"}, {said.Commit, "commit"}} {
		if is.value != "" && !k.places[is.value] {
			lost = append(lost, is.what)
		}
	}
	if lost != nil {
		ls.Add(at, strings.Join(lost, ", ")+": left out")
	}
}

func (k *lack) change(c skein.Changed) {
	k.at(c.Checkout)
	if c.Model != nil {
		k.models[*c.Model] = true
	}
	if c.Cwd != nil {
		k.changed.Cwd = c.Cwd
	}
	if c.Profile != nil {
		k.profile = *c.Profile
	}
	if c.Pinned != nil {
		k.changed.Pinned = c.Pinned
	}
	if c.Tags != nil {
		k.changed.Tags = c.Tags
	}
	if c.Status != nil {
		k.changed.Status = c.Status
	}
}

// gists returns events with only what tell needs: their text may be long.
func gists(evs []skein.Event) []skein.Event {
	const long = 1 << 10
	short := slices.Clone(evs)
	for i := range short {
		e := &short[i]
		if len(e.Payload) <= long {
			continue
		}
		switch e.Kind {
		case skein.KindSaid:
			if m, err := skein.Decode[struct {
				ID      string           `json:"id,omitempty"`
				Model   string           `json:"model,omitempty"`
				Request string           `json:"request,omitempty"`
				Usage   *skein.Usage     `json:"usage,omitempty"`
				Tier    string           `json:"tier,omitempty"`
				Error   *skein.ErrorInfo `json:"error,omitempty"`
			}](*e); err == nil {
				e.Payload = skein.MustJSON(m)
			}
		case skein.KindNoted:
			if n, err := skein.Decode[struct {
				Name string `json:"name"`
			}](*e); err == nil {
				e.Payload = skein.MustJSON(n)
			}
		case skein.KindTool, skein.KindCompacted:
			e.Payload = nil
		}
	}
	return short
}

// tell adds what is missing to the losses, except what the format has already
// reported in its own words.
func (k *lack) tell(s skein.Session, evs []skein.Event, ls *interop.Losses) {
	first := map[skein.Seq]skein.Kind{}
	counts := map[skein.Kind]int{}
	for _, e := range evs {
		first[e.Seq] = e.Kind
		counts[e.Kind]++
	}
	echoes := map[skein.Kind]bool{}
	for _, l := range *ls {
		echoes[first[l.First]] = true
	}
	whole := spending{}
	for _, e := range evs {
		what := ""
		switch e.Kind {
		case skein.KindSaid:
			if m, err := skein.Decode[skein.Message](e); err == nil {
				k.uncharged(e.Seq, m.Usage, m.Tier, ls)
				k.unfailed(e.Seq, m.Error, ls)
				if m.Model != "" && !k.models[m.Model] {
					ls.Add(e.Seq, "which model answered: left out")
				}
				whole.add(m.Usage, m.Request, m.ID)
			}
		case skein.KindStep:
			step, err := skein.Decode[skein.Step](e)
			whole.add(step.Usage, step.Request)
			k.untold(e.Seq, step, ls)
			switch {
			case err != nil:
			case k.kinds[e.Kind] == 0 && !(k.charged && step.Usage != nil):
				what = "requests to models: left out"
			default:
				k.uncharged(e.Seq, step.Usage, step.Tier, ls)
			}
		case skein.KindTool:
			if k.kinds[e.Kind] == 0 {
				what = "when tools ran: left out"
			}
		case skein.KindResumed, skein.KindEnded:
			if k.kinds[e.Kind] < counts[e.Kind] {
				what = "when programs opened and closed it: left out"
			}
		case skein.KindCompacted:
			if k.kinds[e.Kind] == 0 {
				what = "compactions: left out"
			}
		case skein.KindCreated:
			if c, err := skein.Decode[skein.Created](e); err == nil {
				k.unplaced(e.Seq, c.Checkout, ls)
				if len(c.Config) > 0 && !sharesSettings(k.created.Config, c.Config) {
					ls.Add(e.Seq, "settings of the agent: left out")
				}
			}
		case skein.KindChanged:
			c, err := skein.Decode[skein.Changed](e)
			if k.unplaced(e.Seq, c.Checkout, ls); err == nil && c.Cwd != nil && k.changed.Cwd == nil && k.created.Cwd != *c.Cwd {
				what = "folder in which it continued: left out"
			}
		case skein.KindNoted:
			if n, err := skein.Decode[skein.Noted](e); err == nil && k.notes[n.Name] == 0 && !strings.HasPrefix(n.Name, "skein:") {
				what = "notes: left out"
			}
		}
		if what != "" && !echoes[e.Kind] {
			ls.Add(e.Seq, what)
		}
	}
	k.unspent(max(1, s.Base+1), whole, ls)
	k.properties(s, ls)
}

// sharesSettings reports whether the settings that were read again have any of those
// that are stored: formats keep other things there too, and under other names.
func sharesSettings(read, stored json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(stored, &members) != nil {
		return bytes.Equal(read, stored)
	}
	for _, value := range members {
		if len(value) > len("999") && bytes.Contains(read, value) { // a short one is in any text
			return true
		}
	}
	return false
}

// unspent adds what is missing of the usage of all requests together, unless it was
// reported where a request has none: some of a request may be known only after its
// answer, and some requests have no answer.
func (k *lack) unspent(at skein.Seq, whole spending, ls *interop.Losses) {
	has, want := k.used.sum(), whole.sum()
	told := slices.ContainsFunc(*ls, func(l interop.Loss) bool {
		return strings.Contains(l.What, "used") || strings.Contains(l.What, "request")
	})
	if !told && (has.Prompt() < want.Prompt() || has.Output < want.Output) {
		ls.Add(at, "some of what requests used: left out")
		told = true
	}
	if n, is := len(whole), len(k.used); !told && n != is {
		ls.Add(at, fmt.Sprintf("number of requests: %d in place of %d", is, n))
	}
	costs := slices.ContainsFunc(*ls, func(l interop.Loss) bool { return strings.Contains(l.What, "cost") })
	if !told && !costs && want.Reported > 0 && has.Reported == 0 {
		ls.Add(at, "what the program said that requests cost: left out")
	}
}

// properties adds what is missing of the session's properties.
func (k *lack) properties(s skein.Session, ls *interop.Losses) {
	at := max(1, s.Base+1)
	says := func(word string) bool {
		return slices.ContainsFunc(*ls, func(l interop.Loss) bool { return strings.HasPrefix(l.What, word) })
	}
	for _, is := range []struct {
		lost bool
		what string
	}{
		{s.Title != "" && k.title != s.Title, "title"},
		{s.Description != "" && k.about.Description != s.Description, "description"},
		{s.Profile != "" && k.profile != s.Profile, "profile " + s.Profile},
		{s.Key != "" && k.created.Key != s.Key, "key " + s.Key},
		{s.Pinned && (k.changed.Pinned == nil || !*k.changed.Pinned), "that the session is pinned"},
		{len(s.Tags) > 0 && (k.changed.Tags == nil || !slices.Equal(*k.changed.Tags, s.Tags)), "tags"},
		{s.Status != "" && (k.changed.Status == nil || *k.changed.Status != s.Status), "status " + s.Status},
		{s.Parent != nil && !k.hangs, "its parent session"},
	} {
		if is.lost && !says(is.what) {
			ls.Add(at, is.what+": left out")
		}
	}
	if k.changed.Cwd != nil {
		k.created.Cwd = *k.changed.Cwd
	}
	if s.Cwd == "" && k.created.Cwd != "" && k.created.Cwd != s.Project && !says("folder") {
		ls.Add(at, "folder: the session has none; written is "+k.created.Cwd)
	}
}
