package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/door"
	"github.com/skein-dev/skein/price"
)

// usageQuery asks for sums of usage.
type usageQuery struct {
	By      skein.Dimension `query:"by" enum:"day,model,agent,project,session" default:"day"`
	User    skein.User      `query:"user" doc:"for tokens that see everybody's"`
	Session skein.SessionID `query:"session"`
	Project string          `query:"project" doc:"path, exact"`
	Agent   string          `query:"agent"`
	Since   string          `query:"since"`
	Until   string          `query:"until"`
	Zone    string          `query:"zone" default:"UTC" doc:"whose days: UTC, Europe/Berlin"`
	Limit   int             `query:"limit" minimum:"0" doc:"at most this many; 0 for all"`
}

// usageLine is one sum.
type usageLine struct {
	Of       string   `json:"of" doc:"the day, model, agent, project or session ID"`
	Name     string   `json:"name,omitempty" doc:"of a session"`
	Requests int64    `json:"requests"`
	Input    int64    `json:"input" doc:"without what was read from and written to the cache"`
	Output   int64    `json:"output" doc:"reasoning included"`
	Reason   int64    `json:"reasoning"`
	Read     int64    `json:"cache_read"`
	Write    int64    `json:"cache_write"`
	Cost     *float64 `json:"cost_usd" doc:"null if some of it has no known price"`
	Known    float64  `json:"priced_usd" doc:"what is known of it"`
	Unpriced []string `json:"unpriced_models,omitempty"`
	nano     price.NanoUSD
	usage    skein.Usage
}

// usages registers what was used.
func (a *service) usages(t *table) {
	type usageSums struct {
		Items  []usageLine `json:"items" doc:"days latest first; all else with the largest cost first"`
		Prices string      `json:"prices_of,omitempty" doc:"date of the list of prices"`
	}
	type out struct{ Body usageSums }
	register(t, operation{ID: "usage", Method: http.MethodGet, Path: "/usage", Tag: "usage", Scope: door.Read, Summary: "What the models used and what it cost", Doc: "Each request to a model is counted once, however many records and copies tell of it. Sessions in the bin count."},
		func(ctx context.Context, i *usageQuery) (*out, error) {
			q := skein.UsageQuery{By: i.By, User: i.User, Session: i.Session, Project: i.Project, Agent: i.Agent}
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
			o := &out{usageSums{Items: append([]usageLine{}, sumUsage(rows, q.By, prices)...)}}
			if prices != nil {
				o.Body.Prices = prices.Date
			}
			if i.Limit > 0 && len(o.Body.Items) > i.Limit {
				o.Body.Items = o.Body.Items[:i.Limit]
			}
			if q.By == skein.BySession {
				err = nameLines(ctx, store, o.Body.Items)
			}
			return o, err
		})
}

func nameLines(ctx context.Context, store skein.Store, lines []usageLine) error {
	for i := range lines {
		s, err := store.Session(ctx, skein.SessionID(lines[i].Of))
		if err != nil && !errors.Is(err, skein.ErrNotFound) {
			return err
		}
		lines[i].Name = s.Name()
	}
	return nil
}

// sumUsage puts the rows of one value together: days in the order in which
// they come, all else with the largest cost first. prices may be nil.
func sumUsage(rows []skein.UsageRow, by skein.Dimension, prices *price.Table) (out []usageLine) {
	at := map[string]int{}
	for _, r := range rows {
		i, ok := at[r.Of]
		if !ok {
			i = len(out)
			at[r.Of] = i
			out = append(out, usageLine{Of: r.Of})
		}
		out[i].add(r, by, prices)
	}
	for i := range out {
		l := &out[i]
		u := l.usage
		l.Requests, l.Input, l.Output, l.Reason, l.Read, l.Write = u.Requests, u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite
		slices.Sort(l.Unpriced)
		l.Unpriced, l.Known = slices.Compact(l.Unpriced), float64(l.nano)/1e9
		if len(l.Unpriced) == 0 {
			cost := l.Known
			l.Cost = &cost
		}
	}
	if by != skein.ByDay {
		slices.SortStableFunc(out, func(a, b usageLine) int { return cmp.Compare(b.nano, a.nano) })
	}
	return out
}

func (l *usageLine) add(r skein.UsageRow, by skein.Dimension, prices *price.Table) {
	l.usage = l.usage.Plus(r.Usage)
	if prices == nil {
		l.Unpriced = append(l.Unpriced, cmp.Or(r.Model, "an unnamed model"))
		return
	}
	var day skein.Time
	if by == skein.ByDay && r.Of != "" {
		day, _ = skein.ParseTime(r.Of + "T12:00:00Z") // else the prices of no day
	}
	usd, known := prices.Cost(r.Provider, r.Model, day, r.Usage)
	if l.nano += usd; !known {
		l.Unpriced = append(l.Unpriced, cmp.Or(r.Model, "an unnamed model"))
	}
}
