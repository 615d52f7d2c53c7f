package skein_test

import (
	"testing"

	"github.com/skein-dev/skein"
)

func TestWhatWasLookedUpStaysUntilARecordSaysIt(t *testing.T) {
	found := skein.Checkout{Repository: "example.com/a/b", Branch: "now", Commit: "c0", Worktree: "w", Subfolder: "sub", Host: "box"}
	path := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		said skein.Checkout // at the beginning
		then skein.Changed
		want skein.Checkout
	}{
		"a folder": {
			want: skein.Checkout{Repository: "example.com/a/b", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "repository worktree subfolder host"},
		},
		"a branch": {
			said: skein.Checkout{Branch: "main"},
			want: skein.Checkout{Repository: "example.com/a/b", Branch: "main", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "repository worktree subfolder host"},
		},
		"a repository": {
			said: skein.Checkout{Repository: "example.com/a/b", Host: "mine"},
			want: skein.Checkout{Repository: "example.com/a/b", Worktree: "w", Subfolder: "sub", Host: "mine", LookedUp: "worktree subfolder"},
		},
		"another repository": {
			said: skein.Checkout{Repository: "example.com/a/c"},
			want: skein.Checkout{Repository: "example.com/a/c"},
		},
		"a first commit": {
			said: skein.Checkout{Repository: "root:0123"},
			want: skein.Checkout{Repository: "example.com/a/b", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "repository worktree subfolder host"},
		},
		"then another branch": {
			said: skein.Checkout{Branch: "main"},
			then: skein.Changed{Checkout: &skein.Checkout{Branch: "next"}},
			want: skein.Checkout{Repository: "example.com/a/b", Branch: "next", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "repository worktree subfolder host"},
		},
		"then another branch of a recorded repository": {
			said: skein.Checkout{Repository: "example.com/a/b", Branch: "main"},
			then: skein.Changed{Checkout: &skein.Checkout{Repository: "example.com/a/b", Branch: "next"}},
			want: skein.Checkout{Repository: "example.com/a/b", Branch: "next", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "worktree subfolder host"},
		},
		"then another repository": {
			then: skein.Changed{Checkout: &skein.Checkout{Repository: "example.com/a/c", Commit: "c1"}},
			want: skein.Checkout{Repository: "example.com/a/c", Commit: "c1"},
		},
		"then no repository any more": {
			said: skein.Checkout{Repository: "example.com/a/b"},
			then: skein.Changed{Checkout: &skein.Checkout{Branch: "next"}},
			want: skein.Checkout{Branch: "next", Worktree: "w", Subfolder: "sub", Host: "box", LookedUp: "worktree subfolder host"},
		},
		"then another folder": {
			then: skein.Changed{Cwd: path("/p/other")},
			want: skein.Checkout{Repository: "example.com/a/b", Worktree: "w", Host: "box", LookedUp: "repository worktree host"},
		},
		"then another project": {
			said: skein.Checkout{Branch: "main"},
			then: skein.Changed{Project: path("/q"), Cwd: path("/q")},
			want: skein.Checkout{Branch: "main"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := c.said.Filled(found)
			if got := at.Recorded(); got != c.said && name != "a first commit" {
				t.Errorf("Recorded() = %+v, want %+v", got, c.said)
			}
			s := skein.Session{ID: "s"}
			for i, e := range []skein.Event{
				skein.NewEvent(skein.KindCreated, 0, skein.Created{Project: "/p", Cwd: "/p/sub", Checkout: at.Known()}),
				skein.NewEvent(skein.KindChanged, 0, c.then),
			} {
				e.Seq = skein.Seq(i + 1)
				facts, err := skein.FactsOf(e)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Apply(&e, facts, skein.Prior{}); err != nil {
					t.Fatal(err)
				}
			}
			if s.Checkout != c.want {
				t.Errorf("Checkout = %+v, want %+v", s.Checkout, c.want)
			}
		})
	}
}
