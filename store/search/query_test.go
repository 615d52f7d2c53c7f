package search_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// noon is 12:00 on 2026-11-21 in a zone one hour east.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("east", 3600))

func word(words ...string) skein.Term { return skein.Term{Words: words} }

func TestParseQuery(t *testing.T) {
	prefix := func(t skein.Term) skein.Term { t.Prefix = true; return t }
	not := func(t skein.Term) skein.Term { t.Not = true; return t }
	terms := func(t ...skein.Term) skein.Query { return skein.Query{Terms: t} }
	at := func(s string) skein.Time {
		tm, err := skein.ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return tm
	}
	for _, c := range []struct {
		in   string
		want skein.Query
	}{
		{"", skein.Query{}},
		{"  fork   Pointer\n", terms(word("fork"), word("Pointer"))},
		{`"fork pointer" x`, terms(word("fork", "pointer"), word("x"))},
		{`“fork pointer”`, terms(word("fork", "pointer"))},
		{"snap* *shot a*b", terms(prefix(word("snap")), word("shot"), word("a", "b"))},
		{`"to the sna"* "to the*"`, terms(prefix(word("to", "the", "sna")), word("to", "the"))},
		{`a -draft -"first draft" -x*`, terms(word("a"), not(word("draft")), not(word("first", "draft")), not(prefix(word("x"))))},
		{"foo-bar foo_bar a/b.go C++", terms(word("foo", "bar"), word("foo", "bar"), word("a", "b", "go"), word("C"))},
		{"--all -- - * ** -* \" \"\" -\"\"", terms(word("all"))},
		{`"never closed`, terms(word("never", "closed"))},
		{`5" disk`, terms(word("5"), word("disk"))},
		{"https://example.org error: AND NOT(x) NEAR", terms(word("https", "example", "org"), word("error"), word("AND"), word("NOT", "x"), word("NEAR"))},
		{`tool: x "tool:bash" Tool:bash`, terms(word("tool"), word("x"), word("tool", "bash"), word("Tool", "bash"))},
		{"fork rewound:yes", skein.Query{Terms: []skein.Term{{Words: []string{"fork"}}}, Rewound: true}},
		{"fork rewound:no", skein.Query{Terms: []skein.Term{{Words: []string{"fork"}}}}},
		{"tool:bash status:error file:a/b.go role:user", skein.Query{Tool: "bash", Failed: true, Path: "a/b.go", Role: skein.RoleUser}},
		{`agent:codex project:"my app" session:abc -x`, skein.Query{Agent: "codex", Project: "my app", Session: "abc", Terms: []skein.Term{not(word("x"))}}},
		{"since:2026-11-20 until:2026-11-20", skein.Query{Since: at("2026-11-19T23:00:00Z"), Until: at("2026-11-20T23:00:00Z")}},
		{"since:7d until:2h", skein.Query{Since: at("2026-11-14T11:00:00Z"), Until: at("2026-11-21T09:00:00Z")}},
		{"since:yesterday until:today", skein.Query{Since: at("2026-11-19T23:00:00Z"), Until: at("2026-11-21T23:00:00Z")}},
		{"since:2026-10 until:2026-10", skein.Query{Since: at("2026-09-30T23:00:00Z"), Until: at("2026-10-31T23:00:00Z")}},
		{"since:2026-11-21T14:30 until:2026-11-21T14:30:00Z", skein.Query{Since: at("2026-11-21T13:30:00Z"), Until: at("2026-11-21T14:30:00Z")}},
		{"30m since:30m", skein.Query{Terms: []skein.Term{word("30m")}, Since: at("2026-11-21T10:30:00Z")}},
		{"\x00\xff a\x00b", terms(word("a", "b"))},
	} {
		got, err := search.ParseAt(c.in, noon)
		if err != nil {
			t.Errorf("ParseQueryAt(%q): %v", c.in, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("ParseQueryAt(%q) (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestParseQuerySaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"since:soon", `"soon"`},
		{"until:d", `"d"`},
		{"since:-3d", `"-3d"`},
		{"role:boss", "role:boss"},
		{"status:500", "status:500"},
		{"-tool:bash x", "-tool:bash"},
		{"tool:a tool:b", "tool:b"},
		{"-a -b", "leave out"},
		{strings.Repeat("a", 5000), "5000 bytes"},
		{strings.Repeat("a ", 65), "65 terms"},
	} {
		q, err := search.ParseAt(c.in, noon)
		if !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseQueryAt(%.40q) = %+v, %v; want an error wrapping ErrInvalid with %s in it", c.in, q, err, c.want)
		}
	}
}

func TestQueryEmpty(t *testing.T) {
	for in, want := range map[string]bool{"": true, "-- *": true, "a": false, "tool:bash": false} {
		if q, err := search.Parse(in); err != nil || search.Empty(&q) != want {
			t.Errorf("ParseQuery(%q).Empty() = %v, %v; want %v", in, search.Empty(&q), err, want)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{`a "b c"* -d tool:x since:7d`, "-", `"`, "session:\"", "“", "東京都 fooBar*", "role:user role:"} {
		f.Add(s, "some text fooBarBaz 東京都")
	}
	f.Add("0", "!"+strings.Repeat("\x89", 440)+"0 \x890")
	f.Fuzz(func(t *testing.T, s, text string) {
		q, err := search.ParseAt(s, noon)
		if err != nil {
			if !errors.Is(err, skein.ErrInvalid) {
				t.Fatalf("ParseQueryAt(%q): %v, which does not wrap ErrInvalid", s, err)
			}
			return
		}
		m, err := search.NewMatcher(q)
		if err != nil {
			t.Fatalf("ParseQueryAt(%q).Matcher(): %v", s, err)
		}
		m.MatchesText(text)
		if snippet := m.Snippet(text); len(snippet) > 1000 {
			t.Fatalf("Snippet of %d bytes has %d", len(text), len(snippet))
		}
		for _, term := range q.Terms {
			for _, way := range search.Phrases(term) {
				for _, p := range way {
					if len(p.Words) == 0 {
						t.Fatalf("%+v.Phrases() has a phrase without words", term)
					}
				}
			}
		}
	})
}
