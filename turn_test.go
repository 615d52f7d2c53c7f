package skein_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

func showTurns(turns []skein.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "%d: %d-%d, %d entries", t.N, t.First, t.Last, len(t.Entries))
		if t.Rewound {
			b.WriteString(", rewound")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestTurns(t *testing.T) {
	synthetic := skein.Say(1, skein.Message{Role: skein.RoleUser, Synthetic: true, Parts: []skein.Part{skein.TextPart("a reminder")}})
	toolAnswer := skein.Say(1, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{result("c", "ok")}})
	events := number(
		created(),
		assistant("", skein.TextPart("hello")), // 2
		user("one"),                            // 3
		assistant("m", call("c")),              // 4
		toolAnswer,                             // 5
		synthetic,                              // 6
		user("two"),                            // 7
		assistant("m", skein.TextPart("late piece")), // 8
		rewound(6),    // 9
		user("three"), // 10
	)
	for _, c := range []struct {
		name   string
		policy skein.TurnPolicy
		want   string
	}{
		{"only typed", skein.OnlyTyped, "0: 2-2, 1 entries\n1: 3-6, 4 entries\n2: 7-7, 1 entries, rewound\n3: 10-10, 1 entries\n"},
		{"every user message", skein.EveryUserMessage, "0: 2-2, 1 entries\n1: 3-5, 3 entries\n2: 6-6, 1 entries\n3: 7-7, 1 entries, rewound\n4: 10-10, 1 entries\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, showTurns(skein.Turns(entriesOf(t, events), c.policy))); diff != "" {
				t.Errorf("Turns (-want +got):\n%s", diff)
			}
		})
	}
	if got := skein.Turns(nil, skein.OnlyTyped); len(got) != 0 {
		t.Errorf("Turns(nil) = %v, want none", got)
	}
}

// Withdrawing a prompt leaves its turn, and every other turn's number.
func TestTurnsKeepTheirNumbers(t *testing.T) {
	events := number(created(), user("one"), assistant("", skein.TextPart("a")), user("two"), withdrawn(2))
	want := "1: 3-3, 1 entries\n2: 4-4, 1 entries\n"
	if diff := cmp.Diff(want, showTurns(skein.Turns(entriesOf(t, events), skein.OnlyTyped))); diff != "" {
		t.Errorf("Turns (-want +got):\n%s", diff)
	}
}

func TestTurnAt(t *testing.T) {
	turns := skein.Turns(entriesOf(t, number(created(), user("one"), user("two"))), skein.OnlyTyped)
	if got, err := skein.TurnAt(turns, 2); err != nil || got.Last != 3 {
		t.Errorf("TurnAt(2) = %d, %v; want the turn that ends at 3", got.Last, err)
	}
	for _, n := range []int{0, 3, -1} {
		if _, err := skein.TurnAt(turns, n); !errors.Is(err, skein.ErrNotFound) {
			t.Errorf("TurnAt(%d): %v, want an error wrapping ErrNotFound", n, err)
		}
	}
	if _, err := skein.TurnAt(nil, 1); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("TurnAt of no turns: %v, want an error wrapping ErrNotFound", err)
	}
}
