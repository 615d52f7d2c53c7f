package reads

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func usages() []harness.Check {
	return []harness.Check{
		{Name: "each request once, while its answer grows", Run: requestOnce},
		{Name: "each request once, 16 writers", Run: requestMany},
		{Name: "by day, model, agent, project, session", Run: dimensions},
		{Name: "by nothing else", Run: unknownDimension},
		{Name: "each tier apart", Run: tiers},
		{Name: "requests with a reported cost apart", Run: recordedApart},
		{Name: "by session, a fork's own only", Run: forksUsage},
		{Name: "the days of any zone", Run: zones},
		{Name: "from, until, of a project, an agent, a session", Run: usageFilters},
		{Name: "the bin counts, what is deleted does not", Run: usageBin},
		{Name: "a session's sum is its rows' sum", Run: usageAgrees},
	}
}

func requestOnce(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("a", fixture.Paid("r", fixture.Noon, "m", skein.Usage{Input: 10, Output: 1, CacheRead: 5}))
	t.Add("a", fixture.Paid("r", fixture.Noon, "m", skein.Usage{Input: 10, Output: 4}))
	t.Add("a", fixture.Paid("r", fixture.Noon, "m", skein.Usage{Input: 10, Output: 4}))
	t.Add("b", fixture.Created(), fixture.Paid("r", fixture.Noon, "m", skein.Usage{Input: 10, Output: 3, Reported: 7}))
	harness.Equal(t, "Usage", t.Total(skein.UsageQuery{}), skein.Usage{Input: 10, Output: 4, CacheRead: 5, Requests: 1, Reported: 7})
	t.Add("a", fixture.Paid("", fixture.Noon, "m", skein.Usage{Output: 1}), fixture.Paid("", fixture.Noon, "m", skein.Usage{Output: 1}))
	if u := t.Total(skein.UsageQuery{}); u.Output != 6 || u.Requests != 3 {
		t.Errorf("with two more requests without an ID usage is %+v, want 6 out in 3 requests", u)
	}
	step := skein.Step{Phase: "finish", Request: "r", Model: "m", Provider: "vendor", Usage: &skein.Usage{Input: 10, Output: 9}}
	t.Add("a", skein.NewEvent(skein.KindStep, fixture.Noon, step))
	if u := t.Total(skein.UsageQuery{}); u.Output != 11 || u.Requests != 3 {
		t.Errorf("after the request's step usage is %+v, want 11 out in 3 requests", u)
	}
	byID := fixture.Piece("m1", "x")
	t.Add("a", byID)
	for _, out := range []int64{5, 8} { // without a request ID, the message's ID counts
		m := skein.Message{ID: "m1", Role: skein.RoleAssistant, Model: "m", Provider: "vendor", Usage: &skein.Usage{Output: out}, Parts: []skein.Part{}}
		t.Add("a", skein.Say(fixture.Noon, m))
	}
	if u := t.Total(skein.UsageQuery{}); u.Output != 19 || u.Requests != 4 {
		t.Errorf("after pieces of one message usage is %+v, want 19 out in 4 requests", u)
	}
}

func requestMany(t *harness.Test) {
	harness.Everyone(16, func(w int) {
		id := skein.SessionID(fmt.Sprint("s", w%4))
		_, _ = skein.Add(context.Background(), t.Store, id, fixture.Created())
		for i := range 10 {
			e := fixture.Paid(fmt.Sprint("r", i), fixture.Noon, "m", skein.Usage{Input: 3, Output: int64(w)})
			if _, err := skein.Add(context.Background(), t.Store, id, e); err != nil {
				t.Errorf("Append = %v", err)
			}
		}
	})
	harness.Equal(t, "Usage", t.Total(skein.UsageQuery{}), skein.Usage{Input: 30, Output: 150, Requests: 10})
}

// spent appends two sessions that cost something.
func spent(t *harness.Test) {
	t.Add(
		"a", fixture.Begin(skein.Created{Agent: "coder", Project: "/p"}),
		fixture.Paid("1", fixture.Noon, "big", skein.Usage{Input: 100}),
		fixture.Paid("2", fixture.Noon+24*3600*fixture.Second, "small", skein.Usage{Input: 10}),
	)
	t.Add(
		"b", fixture.Begin(skein.Created{Agent: "writer", Project: "/p"}),
		fixture.Paid("3", fixture.Noon+16*60*fixture.Second, "big", skein.Usage{Input: 1000}),
		fixture.Paid("4", 0, "small", skein.Usage{Input: 1}),
	)
}

func row(of, model string, input, requests int64) skein.UsageRow {
	return skein.UsageRow{Of: of, Provider: "vendor", Model: model, Usage: skein.Usage{Input: input, Requests: requests}}
}

// then is row for a query by two dimensions.
func then(of, then, model string, input, requests int64) skein.UsageRow {
	r := row(of, model, input, requests)
	r.Then = then
	return r
}

func dimensions(t *harness.Test) {
	spent(t)
	for by, want := range map[skein.Dimension][]skein.UsageRow{
		skein.ByDay:     {row("2026-05-05", "small", 10, 1), row("2026-05-04", "big", 1100, 2), row("", "small", 1, 1)},
		skein.ByModelID: {row("big", "big", 1100, 2), row("small", "small", 11, 2)},
		skein.ByAgent:   {row("writer", "big", 1000, 1), row("writer", "small", 1, 1), row("coder", "big", 100, 1), row("coder", "small", 10, 1)},
		skein.ByProject: {row("/p", "big", 1100, 2), row("/p", "small", 11, 2)},
		skein.BySession: {row("b", "big", 1000, 1), row("b", "small", 1, 1), row("a", "big", 100, 1), row("a", "small", 10, 1)},
	} {
		harness.Equal(t, "Usage by "+string(by), t.Usage(skein.UsageQuery{By: by}), want)
	}
	t.Add("a", fixture.Changed(skein.Changed{Checkout: &skein.Checkout{Branch: "fix/ü"}}))
	for _, c := range []struct {
		by, then skein.Dimension
		want     []skein.UsageRow
	}{
		{skein.BySlot, "", []skein.UsageRow{row("2026-05-05T12:00:00.000Z", "small", 10, 1), row("2026-05-04T12:15:00.000Z", "big", 1000, 1), row("2026-05-04T12:00:00.000Z", "big", 100, 1), row("", "small", 1, 1)}},
		{skein.ByBranch, "", []skein.UsageRow{row("", "big", 1000, 1), row("", "small", 1, 1), row("fix/ü", "big", 100, 1), row("fix/ü", "small", 10, 1)}},
		{skein.ByDay, skein.ByAgent, []skein.UsageRow{then("2026-05-05", "coder", "small", 10, 1), then("2026-05-04", "coder", "big", 100, 1), then("2026-05-04", "writer", "big", 1000, 1), then("", "writer", "small", 1, 1)}},
		{skein.ByAgent, skein.ByBranch, []skein.UsageRow{then("writer", "", "big", 1000, 1), then("writer", "", "small", 1, 1), then("coder", "fix/ü", "big", 100, 1), then("coder", "fix/ü", "small", 10, 1)}},
		{skein.BySession, skein.ByRepository, []skein.UsageRow{then("b", "/p", "big", 1000, 1), then("b", "/p", "small", 1, 1), then("a", "/p", "big", 100, 1), then("a", "/p", "small", 10, 1)}},
		{skein.ByModelID, skein.ByDay, []skein.UsageRow{then("big", "2026-05-04", "big", 1100, 2), then("small", "", "small", 1, 1), then("small", "2026-05-05", "small", 10, 1)}},
	} {
		harness.Equal(t, fmt.Sprintf("Usage by %s, then %s", c.by, c.then), t.Usage(skein.UsageQuery{By: c.by, Then: c.then}), c.want)
	}
	t.Add("a", fixture.Changed(skein.Changed{Project: fixture.Ptr("/moved"), Agent: fixture.Ptr("other")}))
	harness.Equal(t, "Usage by project after a move", t.Usage(skein.UsageQuery{By: skein.ByProject}), []skein.UsageRow{
		row("/p", "big", 1000, 1), row("/p", "small", 1, 1), row("/moved", "big", 100, 1), row("/moved", "small", 10, 1),
	})
	clone := func(id skein.SessionID) {
		t.Add(id, fixture.Changed(skein.Changed{Checkout: &skein.Checkout{Repository: "example.com/team/site"}}))
	}
	clone("a")
	ofB, ofA := []skein.UsageRow{row("/p", "big", 1000, 1), row("/p", "small", 1, 1)}, []skein.UsageRow{row("example.com/team/site", "big", 100, 1), row("example.com/team/site", "small", 10, 1)}
	harness.Equal(t, "Usage by repository, or by project where it is unknown", t.Usage(skein.UsageQuery{By: skein.ByRepository}), append(ofB, ofA...))
	harness.Equal(t, "Usage of a repository", t.Usage(skein.UsageQuery{By: skein.ByRepository, Repository: "example.com/team/site"}), ofA)
	harness.Equal(t, "Usage of a repository by session", t.Total(skein.UsageQuery{By: skein.BySession, Repository: "example.com/team/site"}), skein.Usage{Input: 110, Requests: 2})
	harness.Equal(t, "Usage of a project or a repository", t.Total(skein.UsageQuery{Project: "/p", Repository: "example.com/team/site"}), skein.Usage{Input: 1111, Requests: 4})
	clone("b")
	t.Delete("a")
	harness.Equal(t, "Usage by repository after a deletion", t.Usage(skein.UsageQuery{By: skein.ByRepository}), []skein.UsageRow{
		row("example.com/team/site", "big", 1000, 1), row("example.com/team/site", "small", 1, 1),
	})
}

func tiers(t *harness.Test) {
	long := skein.Usage{Input: 20_000, CacheRead: 100_000, CacheWrite: 81_000, CacheHour: 80_000, Output: 1}
	t.Add("a", fixture.Created(), fixture.Paid("1", fixture.Noon, "m", skein.Usage{Input: 128_000}), fixture.Paid("2", fixture.Noon, "m", skein.Usage{Input: 128_001}))
	t.Add("a", fixture.Paid("3", fixture.Noon, "m", long), fixture.Paid("3", fixture.Noon, "m", skein.Usage{Output: 5}))
	t.Add("a", fixture.Paid("4", fixture.Noon, "m", skein.Usage{Output: 2}), fixture.Paid("4", fixture.Noon, "m", skein.Usage{Input: 600_000}))
	for request, tier := range map[string]string{"5": "batch", "6": "standard", "7": "Priority", "8": "no such tier"} {
		t.Add("a", skein.Say(fixture.Noon, skein.Message{
			Role: skein.RoleAssistant, Provider: "vendor", Model: "m", Request: request, Tier: tier, Usage: &skein.Usage{Input: 200_001}, Parts: []skein.Part{},
		}))
	}
	several := skein.Step{Phase: "finish", Request: "9", Provider: "vendor", Model: "m", Tier: "flex", Several: true, Usage: &skein.Usage{Input: 5_000_000}}
	t.Add("a", skein.NewEvent(skein.KindStep, fixture.Noon, several))
	want := []skein.UsageRow{
		{Tier: "flex", Usage: skein.Usage{Input: 5_000_000, Requests: 1}},
		{Tier: ">200000", Usage: skein.Usage{Input: 420_002, Output: 5, CacheRead: 100_000, CacheWrite: 81_000, CacheHour: 80_000, Requests: 3}},
		{Tier: ">512000", Usage: skein.Usage{Input: 600_000}},
		{Tier: "batch>200000", Usage: skein.Usage{Input: 200_001, Requests: 1}},
		{Tier: "priority>200000", Usage: skein.Usage{Input: 200_001, Requests: 1}},
		{Tier: "", Usage: skein.Usage{Input: 128_000, Output: 2, Requests: 2}},
		{Tier: ">128000", Usage: skein.Usage{Input: 128_001, Requests: 1}},
	}
	for i := range want {
		want[i].Provider, want[i].Model = "vendor", "m"
	}
	for by, of := range map[skein.Dimension]string{skein.ByDay: "2026-05-04", skein.ByModelID: "m", skein.BySession: "a"} {
		for i := range want {
			want[i].Of = of
		}
		harness.Equal(t, "Usage by "+string(by), t.Usage(skein.UsageQuery{By: by}), want)
	}
	t.Add("a", fixture.Changed(skein.Changed{Project: fixture.Ptr("/moved")}))
	for i := range want {
		want[i].Of = "/moved"
	}
	harness.Equal(t, "Usage after a move", t.Usage(skein.UsageQuery{By: skein.ByProject}), want)
	t.Delete("a")
	harness.Equal(t, "Usage after all was deleted", t.Usage(skein.UsageQuery{}), nil)
}

// recordedApart checks that the cost that sources reported can be compared with ours
// of the same requests, whichever event reports it, and whatever is deleted.
func recordedApart(t *harness.Test) {
	row := func(of string, all, recorded skein.Usage) skein.UsageRow {
		return skein.UsageRow{Of: of, Provider: "vendor", Model: "m", Usage: all, Recorded: recorded}
	}
	one := skein.Usage{Input: 100, CacheWrite: 8, CacheHour: 6, Requests: 1, Reported: 5}
	a := row("a", skein.Usage{Input: 110, Output: 1, CacheWrite: 8, CacheHour: 6, Requests: 2, Reported: 5}, one)
	t.Add("a", fixture.Created(), fixture.Paid("1", fixture.Noon, "m", skein.Usage{Input: 10, Output: 1}), fixture.Paid("2", fixture.Noon, "m", skein.Usage{Input: 90, CacheWrite: 8, CacheHour: 6, Reported: 4}))
	t.Add("a", fixture.Paid("2", fixture.Noon, "m", skein.Usage{Input: 100, Reported: 5}))
	harness.Equal(t, "Usage of some requests with a reported cost", t.Usage(skein.UsageQuery{By: skein.BySession}), []skein.UsageRow{a})
	// Another session reports the cost of a request that was counted without it.
	t.Add("b", fixture.Created(), fixture.Paid("1", fixture.Noon, "m", skein.Usage{Output: 4, Reported: 7}))
	b := row("b", skein.Usage{Output: 3, Reported: 7}, skein.Usage{Input: 10, Output: 4, Requests: 1, Reported: 7})
	all := a.Usage.Plus(b.Usage)
	for range 2 {
		harness.Equal(t, "Usage by session", t.Usage(skein.UsageQuery{By: skein.BySession}), []skein.UsageRow{a, b})
		harness.Equal(t, "Usage by model", t.Usage(skein.UsageQuery{By: skein.ByModelID}), []skein.UsageRow{row("m", all, all)})
		t.Add("b", fixture.Changed(skein.Changed{Project: fixture.Ptr("/moved")}))
	}
	t.Delete("b")
	harness.Equal(t, "Usage without b", t.Usage(skein.UsageQuery{}), []skein.UsageRow{row("2026-05-04", a.Usage, a.Recorded)})
	t.Add("f", fixture.Fork("a", 4))
	t.Delete("a")
	a.Of = "f"
	harness.Equal(t, "Usage of a fork that was given the requests", t.Usage(skein.UsageQuery{By: skein.BySession}), []skein.UsageRow{a})
	t.Delete("f")
	harness.Equal(t, "Usage after all was deleted", t.Usage(skein.UsageQuery{}), nil)
}

func unknownDimension(t *harness.Test) {
	spent(t)
	for _, by := range []skein.Dimension{"zzz", "Day", "day ", "hour"} {
		if rows, err := t.Store.Usage(t.Context(), skein.UsageQuery{By: by}); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Usage by %q = %v, %v, want ErrInvalid", by, rows, err)
		}
	}
	harness.Equal(t, "Usage by nothing", t.Usage(skein.UsageQuery{}), t.Usage(skein.UsageQuery{By: skein.ByDay}))
}

func forksUsage(t *harness.Test) {
	spent(t)
	t.Add("f", fixture.Fork("a", 3), fixture.Paid("5", fixture.Noon, "big", skein.Usage{Input: 10000}))
	t.Add("g", fixture.Fork("f", 4))
	want := []skein.UsageRow{
		row("f", "big", 10000, 1), row("b", "big", 1000, 1), row("b", "small", 1, 1), row("a", "big", 100, 1), row("a", "small", 10, 1),
	}
	harness.Equal(t, "Usage by session with forks", t.Usage(skein.UsageQuery{By: skein.BySession}), want)
	for _, of := range []struct {
		id   skein.SessionID
		want []skein.UsageRow
	}{{"f", want[:1]}, {"a", want[3:]}, {"g", nil}} {
		harness.Equal(t, "Usage of "+string(of.id), t.Usage(skein.UsageQuery{By: skein.BySession, Sessions: []skein.SessionID{of.id}}), of.want)
	}
}

func zones(t *harness.Test) {
	at := time.Date(2026, 5, 4, 23, 50, 0, 0, time.UTC)
	t.Add("a", fixture.Created(), fixture.Paid("1", skein.At(at), "m", skein.Usage{Input: 1}), fixture.Paid("2", skein.At(at.Add(20*time.Minute)), "m", skein.Usage{Input: 10}))
	for name, c := range map[string]struct {
		offset int
		want   []skein.UsageRow
	}{
		"UTC":       {0, []skein.UsageRow{row("2026-05-05", "m", 10, 1), row("2026-05-04", "m", 1, 1)}},
		"Kathmandu": {(5*60 + 45) * 60, []skein.UsageRow{row("2026-05-05", "m", 11, 2)}},
		"west":      {-3600, []skein.UsageRow{row("2026-05-04", "m", 11, 2)}},
	} {
		harness.Equal(t, "Usage by day in "+name, t.Usage(skein.UsageQuery{By: skein.ByDay, Zone: time.FixedZone(name, c.offset)}), c.want)
	}
}

func usageFilters(t *harness.Test) {
	spent(t)
	for _, c := range []struct {
		q    skein.UsageQuery
		want int64
	}{
		{skein.UsageQuery{}, 1111},
		{skein.UsageQuery{User: skein.Local}, 1111},
		{skein.UsageQuery{User: "nobody"}, 0},
		{skein.UsageQuery{Sessions: []skein.SessionID{"a"}}, 110},
		{skein.UsageQuery{Sessions: []skein.SessionID{"b", "nothing", "a"}}, 1111},
		{skein.UsageQuery{Sessions: []skein.SessionID{"nothing"}}, 0},
		{skein.UsageQuery{Project: "/p"}, 1111},
		{skein.UsageQuery{Project: "/q"}, 0},
		{skein.UsageQuery{Agent: "writer"}, 1001},
		{skein.UsageQuery{Since: fixture.Noon + 20*60*fixture.Second}, 1010},
		{skein.UsageQuery{Since: fixture.Noon + 30*60*fixture.Second}, 10},
		{skein.UsageQuery{Until: fixture.Noon + 15*60*fixture.Second}, 101},
		{skein.UsageQuery{Since: fixture.Noon, Until: fixture.Noon + 15*60*fixture.Second}, 100},
		{skein.UsageQuery{Since: fixture.Noon, Agent: "coder", Sessions: []skein.SessionID{"b"}}, 0},
	} {
		c.q.By = skein.ByModelID
		if got := t.Total(c.q).Input; got != c.want {
			t.Errorf("Usage(%+v) adds up to %d, want %d", c.q, got, c.want)
		}
	}
}

func usageBin(t *harness.Test) {
	spent(t)
	t.Bin("a")
	if got := t.Total(skein.UsageQuery{}).Input; got != 1111 {
		t.Errorf("with a in the bin usage is %d, want 1111", got)
	}
	t.Delete("a")
	harness.Equal(t, "Usage without a", t.Usage(skein.UsageQuery{By: skein.BySession}), []skein.UsageRow{row("b", "big", 1000, 1), row("b", "small", 1, 1)})
}

func usageAgrees(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("b", fixture.Created())
	for i := range 40 {
		u := skein.Usage{Input: int64(i%7) * 50_000, Output: int64(i), CacheWrite: int64(40 - i), CacheHour: int64(40-i) / 2, Reported: int64(i * 3)}
		id := skein.SessionID([]string{"a", "b"}[i%2])
		t.Add(id, fixture.Paid(fmt.Sprint("r", i/3), fixture.Noon+skein.Time(i)*600*fixture.Second, fmt.Sprint("m", i%2), u))
	}
	t.Add("f", fixture.Fork("a", 5), fixture.Paid("r1", fixture.Noon, "m0", skein.Usage{Output: 100}))
	for _, deleted := range []skein.SessionID{"", "b", "a"} {
		if deleted != "" {
			t.Delete(deleted)
		}
		for _, s := range harness.All(t, t.Store.Sessions(t.Context(), skein.Filter{IncludeEmpty: true})) {
			harness.Equal(t, "Usage of "+string(s.ID), t.Total(skein.UsageQuery{By: skein.ByDay, Sessions: []skein.SessionID{s.ID}}), s.Usage)
		}
	}
}
