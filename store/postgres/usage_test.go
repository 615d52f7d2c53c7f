package postgres

import (
	"fmt"
	"slices"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/inspect"
)

// spent returns an answer with a cost.
func spent(at skein.Time, input int64) skein.Event {
	return skein.Say(at, skein.Message{Role: skein.RoleAssistant, Model: "m", Provider: "p", Usage: &skein.Usage{Input: input, Requests: 1}, Parts: []skein.Part{{Kind: skein.PartText, Text: "x"}}})
}

// by returns the usage as "project: input …", or by agent.
func by(t *testing.T, s skein.Store, of skein.Dimension) string {
	t.Helper()
	rows, err := s.Usage(t.Context(), skein.UsageQuery{By: of})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range rows {
		all = append(all, fmt.Sprintf("%s: %d", r.Of, r.Usage.Input))
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}

// allWhole fails the test if an examination finds wrong sums.
func allWhole(t *testing.T, s *Store) {
	t.Helper()
	for f, err := range s.Examine(t.Context(), inspect.Examination{}) {
		if err != nil || f.Level == inspect.Damaged {
			t.Errorf("Examine yields %+v, error %v", f, err)
		}
	}
}

// Usage moves with its session to another project or agent, and from a deleted session
// to the fork that still shows it.
func TestUsageFollowsItsSession(t *testing.T) {
	s := openTest(t, pgtest.DSN(t))
	set := func(project, agent string) skein.Event {
		return skein.NewEvent(skein.KindChanged, 5, skein.Changed{Project: &project, Agent: &agent})
	}
	addEvents(t, s, "a", skein.NewEvent(skein.KindCreated, 1, skein.Created{Project: "/one", Agent: "x"}), spent(2, 10), spent(3, 100))
	addEvents(t, s, "a", spent(3_000_000, 1000))
	check := func(project, agent string) {
		t.Helper()
		if got := by(t, s, skein.ByProject); got != project {
			t.Errorf("usage by project: %s, want %s", got, project)
		}
		if got := by(t, s, skein.ByAgent); got != agent {
			t.Errorf("usage by agent: %s, want %s", got, agent)
		}
		allWhole(t, s)
	}
	check("[/one: 1110]", "[x: 1110]")
	addEvents(t, s, "a", set("/two", "y"), spent(6_000_000, 10_000))
	check("[/two: 11110]", "[y: 11110]")
	addEvents(t, s, "f", skein.NewEvent(skein.KindCreated, 7, skein.Created{Project: "/fork", Agent: "z", Parent: &skein.Parent{Session: "a", Seq: 3, Why: skein.Fork}}), spent(8, 5))
	check("[/fork: 5 /two: 11110]", "[y: 11110 z: 5]")
	if _, err := s.Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	check("[/fork: 115]", "[z: 115]")
	addEvents(t, s, "f", set("/moved", "w"))
	check("[/moved: 115]", "[w: 115]")
	if _, err := s.Delete(t.Context(), "f", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	check("[]", "[]")
}
