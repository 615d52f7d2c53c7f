package lookup_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/eventtest"
	"github.com/skein-dev/skein/store/lookup"
	"github.com/skein-dev/skein/store/memory"
)

// drawn formats k and all below it with brackets.
func drawn(k *lookup.Kin) string {
	var below []string
	for _, c := range k.Children {
		below = append(below, drawn(c))
	}
	if len(below) == 0 {
		return string(k.ID)
	}
	return string(k.ID) + "(" + strings.Join(below, " ") + ")"
}

func TestFamilyHasAllFromTheOldestThatIsThere(t *testing.T) {
	s := memory.New()
	begin := func(id skein.SessionID, p *skein.Parent) {
		t.Helper()
		if _, err := skein.Add(t.Context(), s, id, skein.NewEvent(skein.KindCreated, 1000, skein.Created{Parent: p}), eventtest.User("x")); err != nil {
			t.Fatal(err)
		}
	}
	begin("a", &skein.Parent{Session: "gone", Why: skein.Continuation})
	begin("late", &skein.Parent{Session: "a", Seq: 2, Why: skein.Child})
	begin("fork", &skein.Parent{Session: "a", Seq: 1, Why: skein.Fork})
	begin("below", &skein.Parent{Session: "fork", Seq: 3, Why: skein.Fork})
	begin("binned", &skein.Parent{Session: "below", Why: skein.Child})
	begin("x", &skein.Parent{Session: "y", Why: skein.Child})
	begin("y", &skein.Parent{Session: "x", Why: skein.Child})
	if err := s.Bin(t.Context(), "binned"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   skein.SessionID
		most int
		want string
		more bool
	}{
		{"a", 0, "a(fork(below(binned)) late)", false},
		{"binned", 0, "a(fork(below(binned)) late)", false},
		{"late", 5, "a(fork(below(binned)) late)", false},
		{"late", 4, "a(fork(below(binned)))", true},
		{"late", 2, "a(fork)", true},
		{"x", 0, "x(y)", false},
	} {
		root, more, err := lookup.Family(t.Context(), s, c.id, c.most)
		if err != nil {
			t.Fatal(err)
		}
		if got := drawn(root); got != c.want || more != c.more {
			t.Errorf("Family(%s, %d) = %s, %t, want %s, %t", c.id, c.most, got, more, c.want, c.more)
		}
	}
	if _, _, err := lookup.Family(t.Context(), s, "nobody", 0); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Family(nobody) = %v, want ErrNotFound", err)
	}
}
