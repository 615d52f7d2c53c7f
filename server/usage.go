package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/openapi"
	"github.com/skein-dev/skein/store/lookup"
)

// usageQuery asks for sums of usage.
type usageQuery struct {
	By         skein.Dimension `query:"by" enum:"day,model,agent,project,repository,session" default:"day"`
	User       skein.User      `query:"user" doc:"owner of the sessions; for tokens that see all users' sessions"`
	Session    skein.SessionID `query:"session"`
	Project    string          `query:"project" doc:"path, exact; with repository, sessions of either"`
	Repository string          `query:"repository" doc:"the same in every clone: github.com/owner/name, or root: and the hash of the first commit"`
	Agent      string          `query:"agent"`
	Since      string          `query:"since"`
	Until      string          `query:"until"`
	Zone       string          `query:"zone" default:"UTC" doc:"time zone of the days, such as UTC or Europe/Berlin"`
	Limit      int             `query:"limit" minimum:"0" doc:"at most this many items; 0 for all"`
}

// usages registers the route of usage.
func (a findOps) usages(t *openapi.Table) {
	type usageSums struct {
		Items  []price.UsageLine `json:"items" doc:"days: latest first; anything else: highest cost first"`
		Prices string            `json:"prices_of,omitempty" doc:"date of the price list"`
	}
	type out struct{ Body usageSums }
	openapi.Register(t, openapi.Operation{ID: "usage", Method: http.MethodGet, Path: "/usage", Tag: "usage", Scope: door.Read, Summary: "Usage of models, and its cost", Doc: "Each request to a model is counted once, even if several records or copies mention it. Sessions in the bin count."},
		func(ctx context.Context, i *usageQuery) (*out, error) {
			q := skein.UsageQuery{By: i.By, User: i.User, Project: i.Project, Repository: i.Repository, Agent: i.Agent}
			if i.Session != "" {
				q.Sessions = []skein.SessionID{i.Session}
			}
			var err error
			if q.Zone, err = time.LoadLocation(i.Zone); err != nil {
				return nil, fmt.Errorf("%w zone %q", skein.ErrInvalid, i.Zone)
			}
			if q.Since, q.Until, err = a.span(i.Since, i.Until); err != nil {
				return nil, err
			}
			store := door.From(ctx).Store
			rows, err := store.Usage(ctx, q)
			if err != nil {
				return nil, err
			}
			prices, err := a.prices()
			if err != nil {
				return nil, err
			}
			o := &out{usageSums{Items: sumUsage(rows, q.By, prices)}}
			if prices != nil {
				o.Body.Prices = prices.Date
			}
			if i.Limit > 0 && len(o.Body.Items) > i.Limit {
				o.Body.Items = o.Body.Items[:i.Limit]
			}
			if q.By == skein.BySession {
				err = a.nameLines(ctx, store, o.Body.Items)
			}
			return o, err
		})
}

func (a findOps) nameLines(ctx context.Context, store skein.Store, lines []price.UsageLine) error {
	ids := make([]skein.SessionID, len(lines))
	for i := range lines {
		ids[i] = skein.SessionID(lines[i].Of)
	}
	sessions, err := lookup.ByID(ctx, store, ids)
	if err != nil {
		return err
	}
	for i := range lines {
		s := a.veiledSession(sessions[skein.SessionID(lines[i].Of)])
		lines[i].Name = s.Name()
	}
	return nil
}

// sumUsage adds up the rows of each value; prices may be nil.
func sumUsage(rows []skein.UsageRow, by skein.Dimension, prices *price.List) []price.UsageLine {
	if prices == nil {
		prices = &price.List{}
	}
	lines := []price.UsageLine{}
	for _, s := range prices.Sums(rows, by) {
		lines = append(lines, s.Line())
	}
	return lines
}
