package reads

import (
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// countedBy checks that what is counted is what is listed, by every dimension and with
// every filter.
func countedBy(t *harness.Test) {
	t.Add("a1", fixture.Begin(skein.Created{
		Project: "/p", Agent: "coder", Model: "m", Surface: "cli", Checkout: &skein.Checkout{Repository: "example.com/p", Branch: "main"},
	}), fixture.User("Übung"), fixture.Changed(skein.Changed{Tags: &[]string{"x", "y"}}))
	late := fixture.User("it's \"quoted\" — late")
	late.Time = fixture.Noon + 1000*fixture.Second
	t.Add("a2", fixture.Begin(skein.Created{Project: "/q", Agent: "it's, \"x\"", Model: "n", Checkout: &skein.Checkout{Repository: "example.com/p", Branch: "fix/ü"}}), late, fixture.Changed(skein.Changed{Tags: &[]string{"y"}}))
	t.Add("b1", fixture.Child("a1"), fixture.User("x"))
	t.Add("b2", fixture.Begin(skein.Created{Project: "/p", Surface: "telegram"}), fixture.User("x"), skein.Say(fixture.Noon, skein.Message{Role: skein.RoleAssistant, Model: "m", Error: &skein.ErrorInfo{Message: "overloaded"}}))
	t.Add("c", fixture.Begin(skein.Created{User: "ann", Agent: "coder"}), fixture.User("übung"))
	t.Add("e", fixture.Created())
	t.Add("d", fixture.Created(), fixture.User("binned"))
	t.Bin("d")
	filters := []skein.Filter{
		{},
		{User: "ann"},
		{NoChildren: true},
		{Bin: true},
		{IncludeEmpty: true},
		{Title: "ÜBUNG"},
		{Since: fixture.Noon + 500*fixture.Second},
		{Agent: "nobody"},
		{Limit: 1, Before: &skein.Session{ID: "a1", Updated: fixture.Noon}},
		{Among: map[skein.Dimension][]string{skein.ByAgent: {"coder", "it's, \"x\""}}},
		{Among: map[skein.Dimension][]string{skein.ByAgent: {"", "coder"}, skein.ByTag: {"x", "z"}}},
		{Among: map[skein.Dimension][]string{skein.ByRepository: {"example.com/p"}, skein.ByTag: nil}},
		{Among: map[skein.Dimension][]string{skein.ByBranch: {"main", "fix/ü"}, skein.ByModelID: {"n"}}},
		{Among: map[skein.Dimension][]string{skein.ByState: {"failed"}}},
		{Among: map[skein.Dimension][]string{skein.ByState: {"idle", "working"}, skein.BySurface: {"cli", ""}}},
		{Among: map[skein.Dimension][]string{skein.ByProject: {"/p", "/nothing"}}},
		{Among: map[skein.Dimension][]string{skein.BySession: {"a1"}}},
	}
	for _, f := range filters {
		listed := f
		listed.Before, listed.Limit, listed.Among = nil, 0, nil
		var want []skein.Session
		for _, one := range harness.All(t, t.Store.Sessions(t.Context(), listed)) {
			if f.Fits(&one) {
				want = append(want, one)
			}
		}
		f.Before, f.Limit = nil, 0
		var ids []skein.SessionID
		for _, one := range want {
			ids = append(ids, one.ID)
		}
		got := t.IDs(f)
		slices.Sort(ids)
		slices.Sort(got)
		if !slices.Equal(got, ids) {
			t.Errorf("Sessions(%+v) yields %q, want %q", f, got, ids)
		}
		dims := []skein.Dimension{skein.ByModelID, skein.ByAgent, skein.ByProject, skein.ByRepository, skein.ByBranch, skein.BySurface, skein.ByTag, skein.ByState, skein.BySlot}
		together, err := skein.CounterOf(t.Store).CountBy(t.Context(), f, dims...)
		t.NoErr("CountBy every dimension", err)
		for _, by := range dims {
			counts := map[string]int{}
			for _, one := range want {
				for _, of := range by.Values(&one) {
					counts[of]++
				}
			}
			alone, err := skein.CounterOf(t.Store).CountBy(t.Context(), f, by)
			t.NoErr("CountBy "+string(by), err)
			all := alone[by]
			if !slices.Equal(all, together[by]) {
				t.Errorf("CountBy(%+v) of every dimension has %v by %s, alone %v", f, together[by], by, all)
			}
			sorted := slices.Clone(all)
			skein.SortCounted(sorted)
			if !slices.Equal(all, sorted) {
				t.Errorf("CountBy(%+v, %s) = %v, want the most first", f, by, all)
			}
			for _, c := range all {
				if counts[c.Of] != c.Sessions {
					t.Errorf("CountBy(%+v, %s) counts %d of %q, want %d", f, by, c.Sessions, c.Of, counts[c.Of])
				}
				delete(counts, c.Of)
			}
			if len(counts) > 0 {
				t.Errorf("CountBy(%+v, %s) leaves out %v", f, by, counts)
			}
		}
	}
	if failed := t.IDs(skein.Filter{Among: map[skein.Dimension][]string{skein.ByState: {"failed"}}}); !slices.Equal(failed, []skein.SessionID{"b2"}) {
		t.Errorf("failed sessions: %q, want b2", failed)
	}
	for _, by := range []skein.Dimension{"", skein.ByDay, skein.BySession, "color"} {
		_, err := skein.CounterOf(t.Store).CountBy(t.Context(), skein.Filter{}, skein.ByAgent, by)
		t.WantErr("CountBy "+string(by), err, skein.ErrInvalid)
	}
}
