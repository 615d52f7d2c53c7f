package web

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/store/activity"
)

// A listFacet is a property of the listed sessions, with its values and how many
// sessions have each.
type listFacet struct {
	Name, Title string
	Values      []listValue // the chosen ones, and those that most sessions have
	More        []listValue // the others
	Left        int         // values that are not even among those: they can be typed
	Filter      url.Values  // that a typed value is added to
}

// Chosen returns how many values are chosen.
func (f *listFacet) Chosen() (n int) {
	for _, v := range f.Values {
		if v.On {
			n++
		}
	}
	return n
}

// A listValue is a value of a listFacet.
type listValue struct {
	Name, Value string
	Count       int
	Path        string // of the list with this value chosen, or no longer chosen
	On          bool
}

const (
	mostValues = 6   // of a facet, shown at once
	allValues  = 200 // of a facet, in all
)

// A listChoice is a parameter of the list that several values can be chosen for.
type listChoice struct {
	name, title string
	by          skein.Dimension
}

// choosable returns the facets of the list, in order.
func choosable() []listChoice {
	return []listChoice{
		{"state", "State", skein.ByState},
		{"agent", "Agent", skein.ByAgent},
		{"in", "Project", skein.ByRepository},
		{"branch", "Branch", skein.ByBranch},
		{"model", "Model", skein.ByModelID},
		{"tag", "Tag", skein.ByTag},
		{"surface", "Surface", skein.BySurface},
	}
}

// storedStates returns the states that the events of sessions may say if one of those
// wanted is what they are doing: a program that was silent for long, or has died, no
// longer works.
func storedStates(want []string) (all []string) {
	for _, w := range want {
		all = append(all, w)
		if w == string(skein.StateIdle) || w == string(skein.StateFailed) {
			all = append(all, string(skein.StateWorking), string(skein.StateWaiting))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// stateOf returns what a session is doing, as far as the store knows.
func (s lists) stateOf(one *skein.Session) skein.WorkState {
	return activity.Of(one, activity.Sight{Now: skein.At(s.Now())}).State
}

// facets counts the sessions of a filter by what can be chosen, and by when they were
// active; f selects total of them.
//
// The counts of a facet leave out what is chosen of it. So all that nothing is chosen of
// are counted at once: going through the sessions is what takes long.
func (s lists) facets(ctx context.Context, f skein.Filter, p *sessionsPage) (total int, err error) {
	counter := skein.CounterOf(s.store(ctx))
	together := []skein.Dimension{skein.ByAgent}
	for _, c := range choosable() {
		if len(f.Among[c.by]) == 0 && c.by != skein.ByAgent {
			together = append(together, c.by)
		}
	}
	if f.Since == 0 && f.Until == 0 {
		together = append(together, skein.BySlot)
	}
	counts, err := counter.CountBy(ctx, f, together...)
	if err != nil {
		return 0, err
	}
	total = sum(counts[skein.ByAgent])
	alone := func(without skein.Filter, by skein.Dimension) error {
		one, err := counter.CountBy(ctx, without, by)
		counts[by] = one[by]
		return err
	}
	for _, c := range choosable() {
		without := f
		if len(f.Among[c.by]) > 0 {
			without.Among = maps.Clone(f.Among)
			delete(without.Among, c.by)
			if err := alone(without, c.by); err != nil {
				return 0, err
			}
		}
		if c.by == skein.ByState {
			if counts[c.by], err = s.statesSeen(ctx, without, counts[c.by]); err != nil {
				return 0, err
			}
		}
		if facet, ok := s.facet(c, counts[c.by], p); ok {
			p.Facets = append(p.Facets, facet)
		}
	}
	if f.Since != 0 || f.Until != 0 {
		f.Since, f.Until = 0, 0
		if err := alone(f, skein.BySlot); err != nil {
			return 0, err
		}
	}
	p.Times = s.times(counts[skein.BySlot], p)
	return total, nil
}

// statesSeen corrects how many sessions are in each state: those of which the events say
// that they work or wait are looked at.
func (s lists) statesSeen(ctx context.Context, f skein.Filter, counts []skein.Counted) ([]skein.Counted, error) {
	of := map[string]int{}
	for _, c := range counts {
		of[c.Of] = c.Sessions
	}
	if of[string(skein.StateWorking)]+of[string(skein.StateWaiting)] == 0 {
		return statesOf(of), nil
	}
	f.Among = maps.Clone(f.Among)
	f.Among[skein.ByState] = []string{string(skein.StateWorking), string(skein.StateWaiting)}
	f.Before, f.Limit = nil, 0
	for one, err := range s.store(ctx).Sessions(ctx, f) {
		if err != nil {
			return nil, err
		}
		of[string(one.Activity.State)]--
		of[string(s.stateOf(&one))]++
	}
	return statesOf(of), nil
}

// statesOf returns how many sessions are in each state, in the order of the facet.
func statesOf(of map[string]int) []skein.Counted {
	out := make([]skein.Counted, 0, len(of))
	for _, state := range []skein.WorkState{skein.StateWorking, skein.StateWaiting, skein.StateFailed, skein.StateIdle, skein.StateEnded} {
		if n := of[string(state)]; n > 0 {
			out = append(out, skein.Counted{Of: string(state), Sessions: n})
		}
	}
	return out
}

// facet returns a facet for its counts, and false if there is nothing to choose.
func (s lists) facet(c listChoice, counts []skein.Counted, p *sessionsPage) (listFacet, bool) {
	out := listFacet{Name: c.name, Title: c.title, Filter: p.Filter}
	chosen := p.Filter[c.name]
	for _, v := range chosen {
		if !slices.ContainsFunc(counts, func(c skein.Counted) bool { return c.Of == v }) {
			counts = append(counts, skein.Counted{Of: v})
		}
	}
	for i, n := range counts {
		on := slices.Contains(chosen, n.Of)
		switch {
		case n.Of == "":
			continue
		case i >= allValues && !on:
			out.Left++
			continue
		}
		v := listValue{Name: n.Of, Value: n.Of, Count: n.Sessions, On: on, Path: p.Toggle(c.name, n.Of)}
		if c.by == skein.ByRepository {
			v.Name = p.names.of(n.Of)
		}
		if v.On || len(out.Values) < mostValues || len(counts) <= mostValues+2 {
			out.Values = append(out.Values, v)
		} else {
			out.More = append(out.More, v)
		}
	}
	return out, len(out.Values) > 1 || len(chosen) > 0
}

// times returns the facet of when sessions were active, by their quarter hours.
func (s lists) times(slots []skein.Counted, p *sessionsPage) listFacet {
	now := s.Now()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	facet := listFacet{Name: "since", Title: "Active"}
	for _, span := range []struct {
		name string
		days int
	}{{"today", 0}, {"last 7 days", 6}, {"last 30 days", 29}, {"last 365 days", 364}} {
		since := today.AddDate(0, 0, -span.days)
		facet.Values = append(facet.Values, listValue{Name: span.name, Value: since.Format(time.DateOnly)})
	}
	for _, slot := range slots {
		at, err := time.Parse(time.RFC3339, slot.Of)
		if err != nil {
			continue // without a time
		}
		at = at.In(now.Location())
		day := at.Format(time.DateOnly)
		for i := range facet.Values {
			if day >= facet.Values[i].Value {
				facet.Values[i].Count += slot.Sessions
			}
		}
	}
	for i := range facet.Values {
		v := &facet.Values[i]
		p.offer("since", v, p.Has("since") == v.Value && p.Has("until") == "")
	}
	return facet
}

// Toggle returns the path of the list with a value chosen, or no longer chosen if it is.
func (p *sessionsPage) Toggle(name, value string) string {
	q := maps.Clone(p.Filter)
	if i := slices.Index(q[name], value); i >= 0 {
		q[name] = slices.Delete(slices.Clone(q[name]), i, i+1)
	} else {
		q[name] = append(slices.Clone(q[name]), value)
	}
	return listPath(q)
}

// With returns the path of the list with only this value for a filter; "" removes it.
func (p *sessionsPage) With(name, value string) string {
	q := maps.Clone(p.Filter)
	q[name] = nil
	if value != "" {
		q[name] = []string{value}
	}
	return listPath(q)
}

// offer lets v be chosen as the only value of a filter, or, if it is chosen, removed.
func (p *sessionsPage) offer(name string, v *listValue, chosen bool) {
	if v.On, v.Path = chosen, p.With(name, v.Value); chosen {
		v.Path = p.With(name, "")
	}
}

// listPath returns the path of the list with these parameters.
func listPath(q url.Values) string {
	for name, values := range q {
		if len(values) == 0 {
			delete(q, name)
		}
	}
	if len(q) == 0 {
		return "/"
	}
	return "/?" + q.Encode()
}

// An agentMark stands for an agent: some letters, and one of the colors.
type agentMark struct {
	Letters string
	Color   int // 0 to 7
}

// markOf returns the mark of an agent: the first letters of its words, or the first two
// of its only word.
func markOf(agent string) agentMark {
	words := strings.FieldsFunc(render.Line(agent), func(r rune) bool { return strings.ContainsRune("-_/ .:", r) })
	letters := "?"
	switch {
	case len(words) == 1:
		letters = string([]rune(words[0])[:min(2, len([]rune(words[0])))])
	case len(words) > 1:
		letters = string([]rune(words[0])[:1]) + string([]rune(words[1])[:1])
	}
	sum := 0
	for _, b := range []byte(agent) {
		sum = sum*31 + int(b)
	}
	known := map[string]agentMark{"claude-code": {"cc", 1}, "codex": {"cx", 2}, "gemini": {"gm", 3}, "copilot": {"cp", 4}, "cursor": {"cu", 5}, "opencode": {"oc", 6}}
	if m, ok := known[agent]; ok {
		return m
	}
	return agentMark{letters, ((sum % 8) + 8) % 8}
}
