package storetest

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

func listing() []check {
	return []check{
		{name: "each field of a filter", run: eachField},
		{name: "IDs and titles are text, not patterns", run: noPatterns},
		{name: "pages give each session once", run: sessionPages},
		{name: "sessions with no event but created", run: emptySessions},
		{name: "larger than", run: larger},
		{name: "while one reads, one can write", run: writeWhileListing},
	}
}

func eachField(t *test) {
	t.add("a1", begin(skein.Created{
		Key: "k", Title: "Fix the Parser", Project: "/p", Agent: "coder", Profile: "p", Model: "m", Surface: "cli",
		Origin: &skein.Origin{Format: "codex", Path: "/x"},
	}), user("hello there"))
	t.add("a2", child("a1"), user("Übung in parsing"), changed(skein.Changed{Pinned: ptr(true), Tags: &[]string{"x", "y"}}))
	t.add("b1", begin(skein.Created{Project: "/p/q", Parent: &skein.Parent{Session: "a1", Why: skein.Continuation}}), user("bye"))
	late := user("late")
	late.Time = noon + 100*second
	t.add("b2", fork("a1", 2), late, skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: "c", State: skein.Running}))
	t.add("c", begin(skein.Created{User: "ann"}), user("x"))
	t.add("d", created(), user("binned"))
	t.bin("d")
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
		{skein.Filter{Since: noon + 100*second}, "b2"},
		{skein.Filter{Since: noon + 100*second + 1}, ""},
		{skein.Filter{Until: noon + 100*second}, "a1 a2 b1 c"},
		{skein.Filter{Until: noon}, ""},
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
		{skein.Filter{Project: "/p", Agent: "coder", Since: noon, Title: "parser", Origin: "codex"}, "a1"},
	} {
		ids := t.ids(c.f)
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

func noPatterns(t *test) {
	for _, id := range []skein.SessionID{"a%b", "a_b", "axb", "a\\b", "a[b]", "a*b", "é"} {
		t.add(id, begin(skein.Created{Title: "title " + string(id)}), user("x"))
	}
	for text, want := range map[string]int{"a%": 1, "a_": 1, "a": 6, "%": 0, "_": 0, "a\\": 1, "a[b": 1, "a*": 1, "?": 0, "é": 1, "\xc3": 1} {
		if got := t.ids(skein.Filter{IDPrefix: text}); len(got) != want {
			t.Errorf("Sessions with IDs that begin with %q: %v, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"%b": 1, "_b": 1, "b": 5, "%": 0, "\\b": 1, "b]": 1, "*b": 1} {
		if got := t.ids(skein.Filter{IDSuffix: text}); len(got) != want {
			t.Errorf("Sessions with IDs that end with %q: %v, want %d", text, got, want)
		}
	}
	for text, want := range map[string]int{"a%b": 1, "a_b": 1, "TITLE": 7, "%": 1, "_": 1, "'": 0, "\"": 0, "\x00": 0, "e a": 6} {
		if got := t.ids(skein.Filter{Title: text}); len(got) != want {
			t.Errorf("Sessions with titles that contain %q: %v, want %d", text, got, want)
		}
	}
}

func sessionPages(t *test) {
	for i := range 25 {
		e := user("x")
		e.Time = noon + skein.Time(i/4)
		t.add(skein.SessionID(fmt.Sprintf("s%02d", (i*7)%25)), created(), e)
	}
	want := all(t, t.s.Sessions(t.Context(), skein.Filter{}))
	if len(want) != 25 || !slices.IsSortedFunc(want, func(a, b skein.Session) int {
		if a.Updated != b.Updated {
			return int(b.Updated - a.Updated)
		}
		return map[bool]int{true: -1, false: 1}[a.ID < b.ID]
	}) {
		t.Errorf("Sessions yields %v, want 25, latest first, equal times by ID", t.ids(skein.Filter{}))
	}
	for _, size := range []int{1, 2, 3, 24, 25, 26, math.MaxInt} {
		var got []skein.Session
		f := skein.Filter{Limit: size}
		for {
			page := all(t, t.s.Sessions(t.Context(), f))
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

func emptySessions(t *test) {
	t.add("a", begin(skein.Created{Key: "k", Title: "t"}))
	t.add("b", created(), titled("t"))
	t.add("f", fork("b", 1))
	equal(t, "Sessions", t.ids(skein.Filter{}), []skein.SessionID{"b", "f"})
	equal(t, "Sessions, empty ones too", t.ids(skein.Filter{IncludeEmpty: true}), []skein.SessionID{"a", "b", "f"})
	equal(t, "Sessions with the key", t.ids(skein.Filter{Key: "k"}), nil)
	equal(t, "Sessions with the key, empty ones too", t.ids(skein.Filter{Key: "k", IncludeEmpty: true}), []skein.SessionID{"a"})
}

func larger(t *test) {
	t.add("small", created(), user("x"))
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = "0123456789abcdef"[(i*i+i/7)%16]
	}
	var evs []skein.Event
	for i := range 8 {
		evs = append(evs, user(fmt.Sprint(i)+string(text[i*1000:])))
	}
	t.add("large", created())
	t.add("large", evs...)
	equal(t, "Sessions larger than 64 KB", t.ids(skein.Filter{LargerThan: 64 << 10}), []skein.SessionID{"large"})
	equal(t, "Sessions larger than 1 TB", t.ids(skein.Filter{LargerThan: 1 << 40}), nil)
	small, err := skein.LifecycleOf(t.s).Size(t.Context(), "small")
	t.noErr("Size", err)
	large, err := skein.LifecycleOf(t.s).Size(t.Context(), "large")
	t.noErr("Size", err)
	if small <= 0 || small > 64<<10 || large <= 64<<10 {
		t.Errorf("Size gives %d and %d, want the second to be large", small, large)
	}
}

func writeWhileListing(t *test) {
	for i := range 10 {
		t.add(skein.SessionID(fmt.Sprint("s", i)), created(), user("x"))
	}
	n := 0
	for s, err := range t.s.Sessions(t.Context(), skein.Filter{}) {
		t.noErr("Sessions", err)
		t.add(s.ID, user("while one reads"))
		if _, err := t.s.Session(t.Context(), s.ID); err != nil {
			t.Errorf("Session while one reads = %v", err)
		}
		if n++; n == 5 {
			break
		}
	}
	for e, err := range t.s.Events(t.Context(), "s0", 0) {
		t.noErr("Events", err)
		if e.Seq > 20 {
			break
		}
		t.add("s1", user("while one reads"))
	}
}
