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

// facets counts the sessions of a filter by what can be chosen.
func (s lists) facets(ctx context.Context, f skein.Filter, p *sessionsPage) (all []listFacet, err error) {
	counter := skein.CounterOf(s.store(ctx))
	for _, c := range choosable() {
		without := f
		without.Among = maps.Clone(f.Among)
		delete(without.Among, c.by)
		counts, err := counter.CountBy(ctx, without, c.by)
		if err != nil {
			return nil, err
		}
		if c.by == skein.ByState {
			if counts, err = s.statesSeen(ctx, without, counts); err != nil {
				return nil, err
			}
		}
		if facet, ok := s.facet(c, counts, p); ok {
			all = append(all, facet)
		}
	}
	return all, nil
}

// statesSeen corrects how many sessions are in each state: those of which the events say
// that they work or wait are looked at.
func (s lists) statesSeen(ctx context.Context, f skein.Filter, counts []skein.Counted) ([]skein.Counted, error) {
	of := map[string]int{}
	for _, c := range counts {
		of[c.Of] = c.Sessions
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
	out := make([]skein.Counted, 0, len(of))
	for _, state := range []skein.WorkState{skein.StateWorking, skein.StateWaiting, skein.StateFailed, skein.StateIdle, skein.StateEnded} {
		if n := of[string(state)]; n > 0 {
			out = append(out, skein.Counted{Of: string(state), Sessions: n})
		}
	}
	return out, nil
}

// facet returns a facet for its counts, and false if there is nothing to choose.
func (s lists) facet(c listChoice, counts []skein.Counted, p *sessionsPage) (listFacet, bool) {
	out := listFacet{Name: c.name, Title: c.title}
	chosen := p.Filter[c.name]
	for _, v := range chosen {
		if !slices.ContainsFunc(counts, func(c skein.Counted) bool { return c.Of == v }) {
			counts = append(counts, skein.Counted{Of: v})
		}
	}
	for i, n := range counts {
		if n.Of == "" || i >= allValues {
			continue
		}
		v := listValue{Name: n.Of, Value: n.Of, Count: n.Sessions, On: slices.Contains(chosen, n.Of), Path: p.Toggle(c.name, n.Of)}
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

// times returns the facet of when sessions were active, by the quarter hours of those
// that f selects without its bounds of time.
func (s lists) times(ctx context.Context, f skein.Filter, p *sessionsPage) (facet listFacet, err error) {
	f.Since, f.Until = 0, 0
	slots, err := skein.CounterOf(s.store(ctx)).CountBy(ctx, f, skein.BySlot)
	if err != nil {
		return facet, err
	}
	now := s.Now()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	facet = listFacet{Name: "since", Title: "Active"}
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
	return facet, nil
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
