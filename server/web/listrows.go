package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// row is a session of the list.
type row struct {
	skein.Session
	Cost  string
	State skein.WorkState
	Mark  agentMark
}

// Who returns the name of the session's agent.
func (r *row) Who() string {
	if r.Profile != "" && !strings.ContainsAny(r.Profile, `/\`) && r.Profile != r.Agent {
		return strings.TrimPrefix(r.Agent+"/"+r.Profile, "/")
	}
	return r.Agent
}

// Place returns the repository, or the project if that is unknown.
func (r *row) Place() string { return cmp.Or(r.Checkout.Repository, r.Project) }

// Said returns what a person said last; "" if that is the session's name.
func (r *row) Said() string {
	if r.LastPrompt == r.Name() {
		return ""
	}
	return r.LastPrompt
}

// A listItem is a line of the list.
type listItem struct {
	Row  *row
	More []*row // runs like this one, which are folded
}

// A listLine is a row on its page.
type listLine struct {
	*row
	Page  *sessionsPage
	Write bool
}

// Line returns a row for its template.
func (p *sessionsPage) Line(r *row) listLine { return listLine{r, p, p.Write} }

// Where returns the short name of the row's project.
func (l listLine) Where() string { return l.Page.names.of(l.Place()) }

// Folds returns how many runs are folded into the line.
func (i listItem) Folds() string { return plural(len(i.More), "more run") + " like this" }

// A listGroup is lines of the list that belong together.
type listGroup struct {
	Title string // "" if the list has no groups
	Count int    // sessions in it, also on other pages; 0 if that is not known
	Path  string // of the list of only these; "" if there is none
	Items []listItem
}

// rows adds to sessions what the list shows of them.
func (s lists) rows(ctx context.Context, found []skein.Session) (all []*row, err error) {
	costs, err := s.costs(ctx, found)
	if err != nil {
		return nil, err
	}
	for i := range found {
		one := &found[i]
		all = append(all, &row{*one, costs[one.ID].Money(), s.stateOf(one), markOf(one.Agent)})
	}
	return all, nil
}

const (
	manyRuns  = 3  // runs of one prompt are folded from this number on
	runsAlike = 30 // bytes of first words that runs have in common
)

// folded returns the lines for rows. Sessions of one turn that begin alike, of one
// agent in one project, are runs of a program: all but the newest are folded into one
// line.
func folded(rows []*row) (items []listItem) {
	type run struct{ agent, place, words string }
	key := func(r *row) (run, bool) {
		words := r.First[:min(len(r.First), runsAlike)]
		return run{r.Agent, r.Place(), words}, r.Turns == 1 && words != "" && r.Title == "" && !r.Pinned
	}
	counts := map[run]int{}
	for _, r := range rows {
		if k, ok := key(r); ok {
			counts[k]++
		}
	}
	at := map[run]int{}
	for _, r := range rows {
		k, ok := key(r)
		if i, seen := at[k]; ok && seen {
			items[i].More = append(items[i].More, r)
			continue
		}
		if ok && counts[k] >= manyRuns {
			at[k] = len(items)
		}
		items = append(items, listItem{Row: r})
	}
	return items
}

// byDay groups rows by the day of their last activity.
func byDay(rows []*row, now time.Time) (all []listGroup) {
	for len(rows) > 0 {
		day := rows[0].Updated.Std().In(now.Location()).Format(time.DateOnly)
		n := slices.IndexFunc(rows, func(r *row) bool { return r.Updated.Std().In(now.Location()).Format(time.DateOnly) != day })
		if n < 0 {
			n = len(rows)
		}
		all = append(all, listGroup{Title: dayTitle(rows[0].Updated, now), Count: n, Items: folded(rows[:n])})
		rows = rows[n:]
	}
	return all
}

// wholeDays counts the sessions of the days that other pages also have: the first and
// the last of this one.
func (s lists) wholeDays(ctx context.Context, f skein.Filter, p *sessionsPage, rows []*row) error {
	f.Before = nil
	whole := func(g *listGroup, at skein.Time) (err error) {
		t := at.Std().In(s.Now().Location())
		begin := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
		day := f
		day.Since = max(f.Since, skein.At(begin))
		if day.Until = skein.At(begin.AddDate(0, 0, 1)); f.Until != 0 {
			day.Until = min(day.Until, f.Until)
		}
		if g.Count = 0; len(p.Filter["state"]) == 0 && at != 0 { // a state is known only of what was read
			g.Count, err = total(ctx, skein.CounterOf(s.store(ctx)), day)
		}
		return err
	}
	if !p.First {
		if err := whole(&p.Groups[0], rows[0].Updated); err != nil {
			return err
		}
	}
	if p.Next == "" {
		return nil
	}
	return whole(&p.Groups[len(p.Groups)-1], rows[len(rows)-1].Updated)
}

// dayTitle names the day of t: Today, Yesterday, Friday, November 20, …
func dayTitle(t skein.Time, now time.Time) string {
	if t == 0 {
		return "Without a time"
	}
	at := t.Std().In(now.Location())
	switch at.Format(time.DateOnly) {
	case now.Format(time.DateOnly):
		return "Today"
	case now.AddDate(0, 0, -1).Format(time.DateOnly):
		return "Yesterday"
	}
	if at.Year() == now.Year() {
		return at.Format("Monday, January 2")
	}
	return at.Format("Monday, January 2, 2006")
}

const (
	groupsShown = 12 // on a page of projects or branches
	inGroup     = 5  // sessions of each
)

// grouped lists the newest sessions of each project or branch, those with the most
// sessions first.
func (s lists) grouped(ctx context.Context, f skein.Filter, p *sessionsPage, by, from string) error {
	skip, err := strconv.Atoi(cmp.Or(from, "0"))
	if err != nil || skip < 0 {
		return fmt.Errorf("from=%q: %w: want the number of a group", from, skein.ErrInvalid)
	}
	dim, name := skein.ByRepository, "in"
	if by == "branch" {
		dim, name = skein.ByBranch, "branch"
	}
	counted, err := skein.CounterOf(s.store(ctx)).CountBy(ctx, f, dim)
	if err != nil {
		return err
	}
	counts := counted[dim]
	counts = counts[min(skip, len(counts)):]
	if len(counts) > groupsShown {
		counts = counts[:groupsShown]
		p.Next = p.With("from", strconv.Itoa(skip+groupsShown))
	}
	among := f.Among
	for _, c := range counts {
		f.Among = maps.Clone(among)
		f.Among[dim] = []string{c.Of}
		found, err := s.found(ctx, f, p, inGroup)
		if err != nil {
			return err
		}
		rows, err := s.rows(ctx, found)
		if err != nil {
			return err
		}
		g := listGroup{Title: "No " + by, Count: c.Sessions, Items: folded(rows)}
		if c.Of != "" {
			q := url.Values{name: {c.Of}}
			for k, v := range p.Filter {
				if k != name && k != "group" {
					q[k] = v
				}
			}
			g.Title, g.Path = c.Of, listPath(q)
			if by == "project" {
				g.Title = p.names.of(c.Of)
			}
		}
		if len(g.Items) > 0 {
			p.Groups = append(p.Groups, g)
		}
	}
	return nil
}
