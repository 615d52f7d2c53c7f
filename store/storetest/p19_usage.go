package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
)

func usages() []check {
	return []check{
		{name: "each request once, while its answer grows", run: requestOnce},
		{name: "each request once, 16 writers", run: requestMany},
		{name: "by day, model, agent, project, session", run: dimensions},
		{name: "by nothing else", run: unknownDimension},
		{name: "each tier apart", run: tiers},
		{name: "by session, a fork's own only", run: forksUsage},
		{name: "the days of any zone", run: zones},
		{name: "from, until, of a project, an agent, a session", run: usageFilters},
		{name: "the bin counts, what is deleted does not", run: usageBin},
		{name: "a session's sum is its rows' sum", run: usageAgrees},
	}
}

func requestOnce(t *test) {
	t.add("a", created())
	t.add("a", paid("r", noon, "m", skein.Usage{Input: 10, Output: 1, CacheRead: 5}))
	t.add("a", paid("r", noon, "m", skein.Usage{Input: 10, Output: 4}))
	t.add("a", paid("r", noon, "m", skein.Usage{Input: 10, Output: 4}))
	t.add("b", created(), paid("r", noon, "m", skein.Usage{Input: 10, Output: 3, Reported: 7}))
	equal(t, "Usage", t.total(skein.UsageQuery{}), skein.Usage{Input: 10, Output: 4, CacheRead: 5, Requests: 1, Reported: 7})
	t.add("a", paid("", noon, "m", skein.Usage{Output: 1}), paid("", noon, "m", skein.Usage{Output: 1}))
	if u := t.total(skein.UsageQuery{}); u.Output != 6 || u.Requests != 3 {
		t.Errorf("with two more requests without an ID usage is %+v, want 6 out in 3 requests", u)
	}
	step := skein.Step{Phase: "finish", Request: "r", Model: "m", Provider: "vendor", Usage: &skein.Usage{Input: 10, Output: 9}}
	t.add("a", skein.NewEvent(skein.KindStep, noon, step))
	if u := t.total(skein.UsageQuery{}); u.Output != 11 || u.Requests != 3 {
		t.Errorf("after the request's step usage is %+v, want 11 out in 3 requests", u)
	}
	byID := piece("m1", "x")
	t.add("a", byID)
	for _, out := range []int64{5, 8} { // without a request ID, the message's ID counts
		m := skein.Message{ID: "m1", Role: skein.RoleAssistant, Model: "m", Provider: "vendor", Usage: &skein.Usage{Output: out}, Parts: []skein.Part{}}
		t.add("a", skein.Say(noon, m))
	}
	if u := t.total(skein.UsageQuery{}); u.Output != 19 || u.Requests != 4 {
		t.Errorf("after pieces of one message usage is %+v, want 19 out in 4 requests", u)
	}
}

func requestMany(t *test) {
	everyone(16, func(w int) {
		id := skein.SessionID(fmt.Sprint("s", w%4))
		_, _ = skein.Add(context.Background(), t.s, id, created())
		for i := range 10 {
			e := paid(fmt.Sprint("r", i), noon, "m", skein.Usage{Input: 3, Output: int64(w)})
			if _, err := skein.Add(context.Background(), t.s, id, e); err != nil {
				t.Errorf("Append = %v", err)
			}
		}
	})
	equal(t, "Usage", t.total(skein.UsageQuery{}), skein.Usage{Input: 30, Output: 150, Requests: 10})
}

// spent appends two sessions that cost something.
func spent(t *test) {
	t.add(
		"a", begin(skein.Created{Agent: "coder", Project: "/p"}),
		paid("1", noon, "big", skein.Usage{Input: 100}),
		paid("2", noon+24*3600*second, "small", skein.Usage{Input: 10}),
	)
	t.add(
		"b", begin(skein.Created{Agent: "writer", Project: "/p"}),
		paid("3", noon+16*60*second, "big", skein.Usage{Input: 1000}),
		paid("4", 0, "small", skein.Usage{Input: 1}),
	)
}

func row(of, model string, input, requests int64) skein.UsageRow {
	return skein.UsageRow{Of: of, Provider: "vendor", Model: model, Usage: skein.Usage{Input: input, Requests: requests}}
}

func dimensions(t *test) {
	spent(t)
	for by, want := range map[skein.Dimension][]skein.UsageRow{
		skein.ByDay:     {row("2026-05-05", "small", 10, 1), row("2026-05-04", "big", 1100, 2), row("", "small", 1, 1)},
		skein.ByModelID: {row("big", "big", 1100, 2), row("small", "small", 11, 2)},
		skein.ByAgent:   {row("writer", "big", 1000, 1), row("writer", "small", 1, 1), row("coder", "big", 100, 1), row("coder", "small", 10, 1)},
		skein.ByProject: {row("/p", "big", 1100, 2), row("/p", "small", 11, 2)},
		skein.BySession: {row("b", "big", 1000, 1), row("b", "small", 1, 1), row("a", "big", 100, 1), row("a", "small", 10, 1)},
	} {
		equal(t, "Usage by "+string(by), t.usage(skein.UsageQuery{By: by}), want)
	}
	t.add("a", changed(skein.Changed{Project: ptr("/moved"), Agent: ptr("other")}))
	equal(t, "Usage by project after a move", t.usage(skein.UsageQuery{By: skein.ByProject}), []skein.UsageRow{
		row("/p", "big", 1000, 1), row("/p", "small", 1, 1), row("/moved", "big", 100, 1), row("/moved", "small", 10, 1),
	})
}

func tiers(t *test) {
	long := skein.Usage{Input: 20_000, CacheRead: 100_000, CacheWrite: 81_000, CacheHour: 80_000, Output: 1}
	t.add("a", created(), paid("1", noon, "m", skein.Usage{Input: 128_000}), paid("2", noon, "m", skein.Usage{Input: 128_001}))
	t.add("a", paid("3", noon, "m", long), paid("3", noon, "m", skein.Usage{Output: 5}))
	t.add("a", paid("4", noon, "m", skein.Usage{Output: 2}), paid("4", noon, "m", skein.Usage{Input: 600_000}))
	for request, tier := range map[string]string{"5": "batch", "6": "standard", "7": "Priority", "8": "no such tier"} {
		t.add("a", skein.Say(noon, skein.Message{
			Role: skein.RoleAssistant, Provider: "vendor", Model: "m", Request: request, Tier: tier, Usage: &skein.Usage{Input: 200_001}, Parts: []skein.Part{},
		}))
	}
	several := skein.Step{Phase: "finish", Request: "9", Provider: "vendor", Model: "m", Tier: "flex", Several: true, Usage: &skein.Usage{Input: 5_000_000}}
	t.add("a", skein.NewEvent(skein.KindStep, noon, several))
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
		equal(t, "Usage by "+string(by), t.usage(skein.UsageQuery{By: by}), want)
	}
	t.add("a", changed(skein.Changed{Project: ptr("/moved")}))
	for i := range want {
		want[i].Of = "/moved"
	}
	equal(t, "Usage after a move", t.usage(skein.UsageQuery{By: skein.ByProject}), want)
	t.delete("a")
	equal(t, "Usage after all was deleted", t.usage(skein.UsageQuery{}), nil)
}

func unknownDimension(t *test) {
	spent(t)
	for _, by := range []skein.Dimension{"zzz", "Day", "day ", "slot"} {
		if rows, err := t.s.Usage(t.Context(), skein.UsageQuery{By: by}); !errors.Is(err, skein.ErrInvalid) {
			t.Errorf("Usage by %q = %v, %v, want ErrInvalid", by, rows, err)
		}
	}
	equal(t, "Usage by nothing", t.usage(skein.UsageQuery{}), t.usage(skein.UsageQuery{By: skein.ByDay}))
}

func forksUsage(t *test) {
	spent(t)
	t.add("f", fork("a", 3), paid("5", noon, "big", skein.Usage{Input: 10000}))
	t.add("g", fork("f", 4))
	want := []skein.UsageRow{
		row("f", "big", 10000, 1), row("b", "big", 1000, 1), row("b", "small", 1, 1), row("a", "big", 100, 1), row("a", "small", 10, 1),
	}
	equal(t, "Usage by session with forks", t.usage(skein.UsageQuery{By: skein.BySession}), want)
	for _, of := range []struct {
		id   skein.SessionID
		want []skein.UsageRow
	}{{"f", want[:1]}, {"a", want[3:]}, {"g", nil}} {
		equal(t, "Usage of "+string(of.id), t.usage(skein.UsageQuery{By: skein.BySession, Sessions: []skein.SessionID{of.id}}), of.want)
	}
}

func zones(t *test) {
	at := time.Date(2026, 5, 4, 23, 50, 0, 0, time.UTC)
	t.add("a", created(), paid("1", skein.At(at), "m", skein.Usage{Input: 1}), paid("2", skein.At(at.Add(20*time.Minute)), "m", skein.Usage{Input: 10}))
	for name, c := range map[string]struct {
		offset int
		want   []skein.UsageRow
	}{
		"UTC":       {0, []skein.UsageRow{row("2026-05-05", "m", 10, 1), row("2026-05-04", "m", 1, 1)}},
		"Kathmandu": {(5*60 + 45) * 60, []skein.UsageRow{row("2026-05-05", "m", 11, 2)}},
		"west":      {-3600, []skein.UsageRow{row("2026-05-04", "m", 11, 2)}},
	} {
		equal(t, "Usage by day in "+name, t.usage(skein.UsageQuery{By: skein.ByDay, Zone: time.FixedZone(name, c.offset)}), c.want)
	}
}

func usageFilters(t *test) {
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
		{skein.UsageQuery{Since: noon + 20*60*second}, 1010},
		{skein.UsageQuery{Since: noon + 30*60*second}, 10},
		{skein.UsageQuery{Until: noon + 15*60*second}, 101},
		{skein.UsageQuery{Since: noon, Until: noon + 15*60*second}, 100},
		{skein.UsageQuery{Since: noon, Agent: "coder", Sessions: []skein.SessionID{"b"}}, 0},
	} {
		c.q.By = skein.ByModelID
		if got := t.total(c.q).Input; got != c.want {
			t.Errorf("Usage(%+v) adds up to %d, want %d", c.q, got, c.want)
		}
	}
}

func usageBin(t *test) {
	spent(t)
	t.bin("a")
	if got := t.total(skein.UsageQuery{}).Input; got != 1111 {
		t.Errorf("with a in the bin usage is %d, want 1111", got)
	}
	t.delete("a")
	equal(t, "Usage without a", t.usage(skein.UsageQuery{By: skein.BySession}), []skein.UsageRow{row("b", "big", 1000, 1), row("b", "small", 1, 1)})
}

func usageAgrees(t *test) {
	t.add("a", created())
	t.add("b", created())
	for i := range 40 {
		u := skein.Usage{Input: int64(i%7) * 50_000, Output: int64(i), CacheWrite: int64(40 - i), CacheHour: int64(40-i) / 2, Reported: int64(i * 3)}
		id := skein.SessionID([]string{"a", "b"}[i%2])
		t.add(id, paid(fmt.Sprint("r", i/3), noon+skein.Time(i)*600*second, fmt.Sprint("m", i%2), u))
	}
	t.add("f", fork("a", 5), paid("r1", noon, "m0", skein.Usage{Output: 100}))
	for _, deleted := range []skein.SessionID{"", "b", "a"} {
		if deleted != "" {
			t.delete(deleted)
		}
		for _, s := range all(t, t.s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true})) {
			equal(t, "Usage of "+string(s.ID), t.total(skein.UsageQuery{By: skein.ByDay, Sessions: []skein.SessionID{s.ID}}), s.Usage)
		}
	}
}
