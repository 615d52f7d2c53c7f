package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// found checks that queries find these messages of session a, the first of
// which is at seq 2.
func (t *test) found(texts []string, cases map[string]string) {
	t.Helper()
	t.add("a", created())
	for _, text := range texts {
		t.add("a", user(text))
	}
	for query, want := range cases {
		var ps []skein.Place
		for i := range strings.Fields(want) {
			var n skein.Seq
			fmt.Sscan(strings.Fields(want)[i], &n)
			ps = append(ps, at("a", n+2))
		}
		t.wantFound(query, ps...)
	}
}

func terms(t *test) {
	t.found([]string{
		"The quick brown fox jumps over a lazy dog",
		"brown quick: a colour; it's QUICK",
		"quicksand is not quick enough",
		"configuration of the parser",
		"snapshots, snapping",
	}, map[string]string{
		"quick":              "0 1 2",
		"QUICK fox":          "0",
		"fox quick":          "0",
		"quick zebra":        "",
		`"quick brown"`:      "0",
		`"brown quick"`:      "1",
		`"brown fox jumps"`:  "0",
		`"fox brown"`:        "",
		"quicksa*":           "2",
		"qui*":               "0 1 2",
		`"the qui"*`:         "0",
		"uick":               "",
		"quick -fox":         "1 2",
		`quick -"brown fox"`: "1 2",
		"quick -brown -sand": "2",
		"config*":            "3",
		"snaps* snap*":       "4",
		"colour; it's":       "1",
	})
}

func scripts(t *test) {
	t.found([]string{
		"func parseConfigFile(HTTPServer2 *Server) error",
		"edit internal/jsonl/reader_test.go, please",
		"Das Zürcher Café öffnet",
		"東京都に行きました",
		"我们需要修复数据库连接",
		"세션을 저장합니다",
		"naïve résumé",
	}, map[string]string{
		"parseConfigFile": "0",
		"config":          "0",
		"parse file":      "0",
		"HTTPServer2":     "0",
		"http":            "0",
		"parse_config":    "0",
		"reader_test.go":  "1",
		"jsonl/reader":    "1",
		"reader jsonl":    "1",
		"internal/jsonl":  "1",
		"zurcher":         "2",
		"CAFÉ":            "2",
		"cafe öffnet":     "2",
		"東京":              "3",
		"京都":              "3",
		"行きました":           "3",
		"大阪":              "",
		"数据库":             "4",
		"修复 连接":           "4",
		"저장":              "5",
		"resume naive":    "6",
	})
}

func patterns(t *test) {
	t.add("a", created(), user("an ERROR in line 42: (foo|bar)"), user("100% of foo_bar"), user("x\ny"), user("Straße"))
	for _, c := range []struct {
		q    skein.Query
		want []skein.Seq
	}{
		{skein.Query{Substring: "rror in li"}, []skein.Seq{2}},
		{skein.Query{Substring: "(FOO|"}, []skein.Seq{2}},
		{skein.Query{Substring: "100%"}, []skein.Seq{3}},
		{skein.Query{Substring: "o_b"}, []skein.Seq{3}},
		{skein.Query{Substring: "oXb"}, nil},
		{skein.Query{Substring: "traß"}, []skein.Seq{5}},
		{skein.Query{Regex: `line \d+`}, []skein.Seq{2}},
		{skein.Query{Regex: `(?i)error`}, []skein.Seq{2}},
		{skein.Query{Regex: `error`}, nil},
		{skein.Query{Regex: `^x$`}, nil},
		{skein.Query{Regex: `(?m)^x$`}, []skein.Seq{4}},
		{skein.Query{Regex: `foo.bar`}, []skein.Seq{2, 3}},
	} {
		c.q.Each = true
		var got []skein.Seq
		for _, h := range t.search(c.q) {
			got = append(got, h.Seq)
		}
		slices.Sort(got)
		equal(t, fmt.Sprintf("Search(%+v)", c.q), got, c.want)
	}
	for _, bad := range []string{"(", "a**", `\p{x`} {
		_, err := t.s.Search(t.Context(), skein.Query{Regex: bad})
		t.wantErr("Search with the regular expression "+bad, err, skein.ErrInvalid)
	}
}

// insideWords checks that text inside words is found however old it is, or that
// the result says that not all was searched.
func insideWords(t *test) {
	evs := []skein.Event{created(), user("an unmistakable beginning")}
	for i := range 2500 {
		evs = append(evs, user(fmt.Sprint("unrelated words, number ", i)))
	}
	t.add("a", evs...)
	for _, q := range []skein.Query{
		{Substring: "mistakabl"},
		{Substring: "mistakable begin"},
		{Substring: "takable beginning"},
		{Regex: "mist[a-z]+ble"},
		{Regex: `mis\w+ beginning`},
	} {
		q.Deadline = time.Nanosecond
		r, err := t.s.Search(t.Context(), q)
		if err != nil || len(r.Hits) == 0 && !r.CutOff {
			t.Errorf("Search(%+v) = %+v, %v, want the message, or to be told that it was cut off", q, r, err)
		}
		r, err = search.FindSome(t.Context(), t.s, q, patience)
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Seq != 2 {
			t.Errorf("FindSome(%+v) = %+v, %v, want the message at 2", q, r, err)
		}
	}
}

func neverSyntax(t *test) {
	t.add("a", created(), user(`call f("x") AND NOT y* OR NEAR(z) text:w {a b} ^q`))
	for _, text := range []string{
		`"`, `f("x")`, "AND", "NOT y", "OR", "NEAR(z)", "NEAR/2", "text:w", "a + b", "^q", "x'; DROP TABLE events; --", "(", ")", "{a b}", "*", "**",
		"-", "--", ":", "a:b", "\x00", "\xff", "'", "''", "%", "_", "\\", "a\nb", "東", "🚀", "\"\"\"", "- -", strings.Repeat("a ", 60),
	} {
		for _, q := range []skein.Query{
			{Terms: []skein.Term{{Words: []string{text}}}},
			{Terms: []skein.Term{{Words: []string{text}, Prefix: true}}},
			{Terms: []skein.Term{{Words: []string{"call"}}, {Words: []string{text}, Not: true}}},
			{Terms: []skein.Term{{Words: []string{"call", text}}}},
			{Substring: text},
			{Terms: []skein.Term{{Words: []string{"call"}}}, Tool: text},
			{Terms: []skein.Term{{Words: []string{"call"}}}, Path: text, Project: text, Agent: text, Origin: text},
		} {
			if _, err := t.s.Search(t.Context(), q); err != nil {
				t.Errorf("Search(%+v) = %v", q, err)
			}
		}
		if q, err := search.Parse(text); err == nil {
			if _, err := t.s.Search(t.Context(), q); err != nil {
				t.Errorf("Search of what was typed, %q = %v", text, err)
			}
		}
	}
	t.wantFound("AND NOT", at("a", 2))
	t.wantFound("NEAR", at("a", 2))
	t.wantFound("text:w", at("a", 2))
}
