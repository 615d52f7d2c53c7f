package reads

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func listing() []harness.Check {
	return []harness.Check{
		{Name: "each field of a filter", Run: eachField},
		{Name: "IDs and titles are text, not patterns", Run: noPatterns},
		{Name: "pages give each session once", Run: sessionPages},
		{Name: "sessions with no event but created", Run: emptySessions},
		{Name: "among several values, and counted by them", Run: countedBy},
		{Name: "larger than", Run: larger},
		{Name: "while one reads, one can write", Run: writeWhileListing},
	}
}

func eachField(t *harness.Test) {
	t.Add("a1", fixture.Begin(skein.Created{
		Key: "k", Title: "Fix the Parser", Project: "/p", Agent: "coder", Profile: "p", Model: "m", Surface: "cli",
		Origin: &skein.Origin{Format: "codex", Path: "/x"},
	}), fixture.User("hello there"))
	t.Add("a2", fixture.Child("a1"), fixture.User("Übung in parsing"), fixture.Changed(skein.Changed{Pinned: fixture.Ptr(true), Tags: &[]string{"x", "y"}}))
	t.Add("b1", fixture.Begin(skein.Created{Project: "/p/q", Parent: &skein.Parent{Session: "a1", Why: skein.Continuation}}), fixture.User("bye"))
	late := fixture.User("late")
	late.Time = fixture.Noon + 100*fixture.Second
	t.Add("b2", fixture.Fork("a1", 2), late, skein.NewEvent(skein.KindTool, fixture.Noon, skein.ToolState{Call: "c", State: skein.Running}))
	t.Add("c", fixture.Begin(skein.Created{User: "ann"}), fixture.User("x"))
	t.Add("d", fixture.Created(), fixture.User("binned"))
	t.Bin("d")
	for _, c := range []struct {
		f    skein.Filter
		want string
	}{
		{skein.Filter{}, "a1 a2 b1 b2 c"},
		{skein.Filter{User: "ann"}, "c"},
		{skein.Filter{User: skein.Local}, "a1 a2 b1 b2"},
		{skein.Filter{Key: "k"}, "a1"},
		{skein.Filter{Key: "K"}, ""},
		{skein.Filter{Project: "/p"}, "a1 b2"},
		{skein.Filter{Project: "/p/q"}, "b1"},
		{skein.Filter{Agent: "coder"}, "a1 b2"},
		{skein.Filter{Profile: "p"}, "a1"},
		{skein.Filter{Model: "m"}, "a1 b2"},
		{skein.Filter{Origin: "codex"}, "a1"},
		{skein.Filter{Origin: "code"}, ""},
		{skein.Filter{Born: true}, "a2 b1 b2 c"},
		{skein.Filter{Surface: "cli"}, "a1"},
		{skein.Filter{Tag: "y"}, "a2"},
		{skein.Filter{Tag: "xy"}, ""},
		{skein.Filter{Pinned: true}, "a2"},
		{skein.Filter{Parent: "a1"}, "a2 b1 b2"},
		{skein.Filter{Parent: "a1", NoChildren: true}, "b1 b2"},
		{skein.Filter{NoChildren: true}, "a1 b1 b2 c"},
		{skein.Filter{Bin: true}, "d"},
		{skein.Filter{Since: fixture.Noon + 100*fixture.Second}, "b2"},
		{skein.Filter{Since: fixture.Noon + 100*fixture.Second + 1}, ""},
		{skein.Filter{Until: fixture.Noon + 100*fixture.Second}, "a1 a2 b1 c"},
		{skein.Filter{Until: fixture.Noon}, ""},
		{skein.Filter{IDs: []skein.SessionID{"b2", "a1", "nothing", "d"}}, "a1 b2"},
		{skein.Filter{IDs: []skein.SessionID{"d", "a1"}, Bin: true}, "d"},
		{skein.Filter{IDs: []skein.SessionID{"b1", "a1"}, Project: "/p"}, "a1"},
		{skein.Filter{IDs: []skein.SessionID{"nothing"}}, ""},
		{skein.Filter{IDPrefix: "a"}, "a1 a2"},
		{skein.Filter{IDPrefix: "A"}, ""},
		{skein.Filter{IDSuffix: "2"}, "a2 b2"},
		{skein.Filter{IDPrefix: "b", IDSuffix: "b2"}, "b2"},
		{skein.Filter{Title: "parser"}, "a1"},
		{skein.Filter{Title: "PARS"}, "a1 a2"},
		{skein.Filter{Title: "übung"}, "a2"},
		{skein.Filter{Title: "ÜBUNG"}, "a2"},
		{skein.Filter{Title: "hello"}, "b2"},
		{skein.Filter{WithOpenCalls: true}, "b2"},
		{skein.Filter{Project: "/p", Agent: "coder", Since: fixture.Noon, Title: "parser", Origin: "codex"}, "a1"},
	} {
		ids := t.IDs(c.f)
		slices.Sort(ids)
		got := ""
		for _, id := range ids {
			got += " " + string(id)
		}
		if got != "" {
			got = got[1:]
		}
		if got != c.want {
			t.Errorf("Sessions(%+v) yields %q, want %q", c.f, got, c.want)
		}
	}
}

func noPatterns(t *harness.Test) {
	for _, id := range []skein.SessionID{"a%b", "a_b", "axb", "a\\b", "a[b]", "a*b", "é"} {
		t.Add(id, fixture.Begin(skein.Created{Title: "title " + string(id)}), fixture.User("x"))
	}
	for text, want := range map[string]int{"a%": 1, "a_": 1, "a": 6, "%": 0, "_": 0, "a\\": 1, "a[b": 1, "a*": 1, "?": 0, "é": 1, "\xc3": 1} {
		if got := t.IDs(skein.Filter{IDPrefix: text}); len(got) != want {
			t.Errorf("Sessions with IDs that begin with %q: %v, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"%b": 1, "_b": 1, "b": 5, "%": 0, "\\b": 1, "b]": 1, "*b": 1} {
		if got := t.IDs(skein.Filter{IDSuffix: text}); len(got) != want {
			t.Errorf("Sessions with IDs that end with %q: %v, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"a%b": 1, "a_b": 1, "TITLE": 7, "%": 1, "_": 1, "'": 0, "\"": 0, "\x00": 0, "e a": 6} {
		if got := t.IDs(skein.Filter{Title: text}); len(got) != want {
			t.Errorf("Sessions with titles that contain %q: %v, want %d", text, got, want)
		}
	}
}

func sessionPages(t *harness.Test) {
	for i := range 25 {
		e := fixture.User("x")
		e.Time = fixture.Noon + skein.Time(i/4)
		t.Add(skein.SessionID(fmt.Sprintf("s%02d", (i*7)%25)), fixture.Created(), e)
	}
	want := harness.All(t, t.Store.Sessions(t.Context(), skein.Filter{}))
	if len(want) != 25 || !slices.IsSortedFunc(want, func(a, b skein.Session) int {
		if a.Updated != b.Updated {
			return int(b.Updated - a.Updated)
		}
		return map[bool]int{true: -1, false: 1}[a.ID < b.ID]
	}) {
		t.Errorf("Sessions yields %v, want 25, latest first, equal times by ID", t.IDs(skein.Filter{}))
	}
	for _, size := range []int{1, 2, 3, 24, 25, 26, math.MaxInt} {
		var got []skein.Session
		f := skein.Filter{Limit: size}
		for {
			page := harness.All(t, t.Store.Sessions(t.Context(), f))
			if len(page) == 0 {
				break
			}
			if len(page) > size {
				t.Fatalf("a page of %d has %d", size, len(page))
			}
			got = append(got, page...)
			f.Before = &got[len(got)-1]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", size, diff)
		}
	}
}

func emptySessions(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Key: "k", Title: "t"}))
	t.Add("b", fixture.Created(), fixture.Titled("t"))
	t.Add("f", fixture.Fork("b", 1))
	harness.Equal(t, "Sessions", t.IDs(skein.Filter{}), []skein.SessionID{"b", "f"})
	harness.Equal(t, "Sessions, empty ones too", t.IDs(skein.Filter{IncludeEmpty: true}), []skein.SessionID{"a", "b", "f"})
	harness.Equal(t, "Sessions with the key", t.IDs(skein.Filter{Key: "k"}), nil)
	harness.Equal(t, "Sessions with the key, empty ones too", t.IDs(skein.Filter{Key: "k", IncludeEmpty: true}), []skein.SessionID{"a"})
}

func larger(t *harness.Test) {
	t.Add("small", fixture.Created(), fixture.User("x"))
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = "0123456789abcdef"[(i*i+i/7)%16]
	}
	var evs []skein.Event
	for i := range 8 {
		evs = append(evs, fixture.User(fmt.Sprint(i)+string(text[i*1000:])))
	}
	t.Add("large", fixture.Created())
	t.Add("large", evs...)
	harness.Equal(t, "Sessions larger than 64 KB", t.IDs(skein.Filter{LargerThan: 64 << 10}), []skein.SessionID{"large"})
	harness.Equal(t, "Sessions larger than 1 TB", t.IDs(skein.Filter{LargerThan: 1 << 40}), nil)
	small, err := skein.LifecycleOf(t.Store).Size(t.Context(), "small")
	t.NoErr("Size", err)
	large, err := skein.LifecycleOf(t.Store).Size(t.Context(), "large")
	t.NoErr("Size", err)
	if small <= 0 || small > 64<<10 || large <= 64<<10 {
		t.Errorf("Size gives %d and %d, want the second to be large", small, large)
	}
}

func writeWhileListing(t *harness.Test) {
	for i := range 10 {
		t.Add(skein.SessionID(fmt.Sprint("s", i)), fixture.Created(), fixture.User("x"))
	}
	n := 0
	for s, err := range t.Store.Sessions(t.Context(), skein.Filter{}) {
		t.NoErr("Sessions", err)
		t.Add(s.ID, fixture.User("while one reads"))
		if _, err := t.Store.Session(t.Context(), s.ID); err != nil {
			t.Errorf("Session while one reads = %v", err)
		}
		if n++; n == 5 {
			break
		}
	}
	for e, err := range t.Store.Events(t.Context(), "s0", 0) {
		t.NoErr("Events", err)
		if e.Seq > 20 {
			break
		}
		t.Add("s1", fixture.User("while one reads"))
	}
}
