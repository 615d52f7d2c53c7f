package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web/transcript"
	"github.com/skein-dev/skein/store/activity"
)

// nowPages show what sessions are doing.
type nowPages struct{ *site }

// routes are the routes of what sessions are doing.
func (s nowPages) routes() []door.Route { return []door.Route{read("/now", s.now)} }

const (
	recently  = 12 * time.Hour // how far back the page looks
	maxLately = 10             // sessions that are neither working nor waiting
)

// nowPage is the data of the page.
type nowPage struct {
	Waiting, Working, Failed, Lately []nowRow
	Today                            string // what today cost; "" if nothing
	Budgets                          []price.Spent
	Path                             string
}

// nowRow is a session, and what it is doing.
type nowRow struct {
	activity.Line
	Says  string
	Cost  string
	Open  []askedQuestion  // that can be answered here
	Reply string           // path of the answer
	Asks  []editorQuestion // that can be answered here, in the place of the editor
	Where string           // short name of the project
	Page  string           // path of the project's page
}

// now shows what sessions are doing. With piece=1 it sends only that, for the script that
// updates it.
func (s nowPages) now(w http.ResponseWriter, r *http.Request) {
	p, err := s.nowOf(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if r.URL.Query().Has("piece") {
		s.fragment(w, "now", "rows", p)
		return
	}
	s.show(w, r, "now", layoutData{Title: "Now", At: "now", Data: p})
}

func (s nowPages) nowOf(r *http.Request) (*nowPage, error) {
	ctx := r.Context()
	all, err := s.doing(ctx)
	if err != nil {
		return nil, err
	}
	p := &nowPage{Path: "/now"}
	var shown []skein.Session
	for i := range all {
		shown = append(shown, all[i].Session)
	}
	costs, err := s.costs(ctx, shown)
	if err != nil {
		return nil, err
	}
	names := s.projectNames(ctx)
	for i := range all {
		row := s.rowOf(r, &all[i])
		place := cmp.Or(all[i].Checkout.Repository, all[i].Project)
		row.Where, row.Page = names.of(place), projectPath(place)
		row.Cost = costs[row.ID].Money()
		switch {
		case row.State == skein.StateWaiting || len(row.Open)+len(row.Asks) > 0:
			p.Waiting = append(p.Waiting, row)
		case row.State == skein.StateWorking:
			p.Working = append(p.Working, row)
		case row.State == skein.StateFailed:
			p.Failed = append(p.Failed, row)
		case len(p.Lately) < maxLately:
			p.Lately = append(p.Lately, row)
		}
	}
	if p.Today, err = s.today(ctx, transcript.ZoneOf(r)); err != nil {
		return nil, err
	}
	if s.Budgets != nil {
		p.Budgets, err = s.Budgets(ctx)
	}
	return p, err
}

// doing returns what the sessions of late are doing.
func (s *site) doing(ctx context.Context) ([]activity.Now, error) {
	f := skein.Filter{NoChildren: true, Since: skein.At(s.Now().Add(-recently))}
	return activity.All(ctx, door.From(ctx).Store, f, skein.At(s.Now()), s.Probes)
}

// rowOf returns what the page shows of a session.
func (s nowPages) rowOf(r *http.Request, n *activity.Now) nowRow {
	n.Session, n.Text = s.veiled(n.Session), s.Redact(n.Text)
	row := nowRow{Line: n.Line()}
	if s.Chat != nil && door.From(r.Context()).Scope >= door.Admin {
		state := chatPages(s).stateOf(n.Session)
		row.Open, row.Reply = state.Open, state.Path+"/chat/reply"
		if state.Working && row.State != skein.StateWaiting {
			row.State = skein.StateWorking
		}
	}
	if row.State == skein.StateWaiting || row.State == skein.StateWorking {
		row.Asks = permissionPages(s).openIn(r.Context(), n.Session)
	}
	row.Says = row.Line.Says()
	return row
}

// today returns what was used since midnight in a zone, for people.
func (s *site) today(ctx context.Context, zone *time.Location) (string, error) {
	if s.Prices == nil {
		return "", nil
	}
	table, err := s.Prices()
	if err != nil {
		return "", err
	}
	y, m, d := s.Now().In(zone).Date()
	rows, err := door.From(ctx).Store.Usage(ctx, skein.UsageQuery{By: skein.ByAgent, Since: skein.At(time.Date(y, m, d, 0, 0, 0, 0, zone))})
	return table.Sum(rows, skein.At(s.Now())).Money(), err
}

// opened reports whether a person opens the dashboard, rather than follows a link in it:
// by an address, a bookmark or an icon, or by a login.
func opened(r *http.Request) bool {
	if r.URL.RawQuery != "" {
		return false
	}
	from, err := url.Parse(r.Referer())
	return r.Header.Get("Sec-Fetch-Site") == "none" || err == nil && from.Path == "/login"
}

// busy reports whether a session works or waits for a person.
func (s *site) busy(ctx context.Context) bool {
	all, err := s.doing(ctx)
	for i := range all {
		if state := all[i].State; state == skein.StateWorking || state == skein.StateWaiting {
			return true
		}
	}
	if err != nil {
		s.Log.Error("what sessions are doing is not known", "err", err)
	}
	return false
}
