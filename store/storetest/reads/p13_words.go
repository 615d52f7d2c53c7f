package reads

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

// found checks that queries find these messages of session a, the first of
// which is at seq 2.
func found(t *harness.Test, texts []string, cases map[string]string) {
	t.Helper()
	t.Add("a", fixture.Created())
	for _, text := range texts {
		t.Add("a", fixture.User(text))
	}
	for query, want := range cases {
		var ps []skein.Place
		for i := range strings.Fields(want) {
			var n skein.Seq
			fmt.Sscan(strings.Fields(want)[i], &n)
			ps = append(ps, harness.At("a", n+2))
		}
		t.WantFound(query, ps...)
	}
}

// longText has words at both ends of a text that an index may take in passages.
func longText(t *harness.Test) {
	var b strings.Builder
	b.WriteString("firstly 東京都 ")
	for i := 0; b.Len() < 3*search.LongText; i++ {
		fmt.Fprintf(&b, "w%d ", i%5000)
	}
	b.WriteString("parseConfigFile\nlastly")
	text := b.String()
	found(t, []string{text, "firstly short", "lastly " + text[:search.LongText-100]}, map[string]string{
		"firstly":                     "0 1 2",
		"lastly firstly":              "0 2",
		"firstly -w4999":              "1",
		"firstly w4999 -parsers":      "0 2",
		`"w4998 w4999 w0" firstly`:    "0 2",
		`"parse config" firstly`:      "0",
		`"parseconfigfile lastly" 京都`: "0",
		`"firstly lastly"`:            "",
		"firstly -parseConfigFile":    "1 2",
		"firstl* parseConfigFi*":      "0",
		"firstly role:assistant":      "",
		"firstly lastly session:a":    "0 2",
		`"w1 w2" -"w2 w3" firstly`:    "",
		"firstly 東京都 parseconfigfile": "0",
	})
}

func terms(t *harness.Test) {
	found(t, []string{
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

func scripts(t *harness.Test) {
	found(t, []string{
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

func patterns(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("an ERROR in line 42: (foo|bar)"), fixture.User("100% of foo_bar"), fixture.User("x\ny"), fixture.User("Straße"))
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
		for _, h := range t.Search(c.q) {
			got = append(got, h.Seq)
		}
		slices.Sort(got)
		harness.Equal(t, fmt.Sprintf("Search(%+v)", c.q), got, c.want)
	}
	for _, bad := range []string{"(", "a**", `\p{x`} {
		_, err := t.Store.Search(t.Context(), skein.Query{Regex: bad})
		t.WantErr("Search with the regular expression "+bad, err, skein.ErrInvalid)
	}
}

// insideWords checks that text inside words is found however old it is, or that
// the result says that not all was searched.
func insideWords(t *harness.Test) {
	evs := []skein.Event{fixture.Created(), fixture.User("an unmistakable beginning")}
	for i := range 2500 {
		evs = append(evs, fixture.User(fmt.Sprint("unrelated words, number ", i)))
	}
	t.Add("a", evs...)
	for _, q := range []skein.Query{
		{Substring: "mistakabl"},
		{Substring: "mistakable begin"},
		{Substring: "takable beginning"},
		{Regex: "mist[a-z]+ble"},
		{Regex: `mis\w+ beginning`},
	} {
		q.Deadline = time.Nanosecond
		r, err := t.Store.Search(t.Context(), q)
		if err != nil || len(r.Hits) == 0 && !r.CutOff {
			t.Errorf("Search(%+v) = %+v, %v, want the message, or to be told that it was cut off", q, r, err)
		}
		r, err = search.FindSome(t.Context(), t.Store, q, harness.Patience)
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Seq != 2 {
			t.Errorf("FindSome(%+v) = %+v, %v, want the message at 2", q, r, err)
		}
	}
}

func neverSyntax(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User(`call f("x") AND NOT y* OR NEAR(z) text:w {a b} ^q`))
	for _, text := range []string{
		`"`, `f("x")`, "AND", "NOT y", "OR", "NEAR(z)", "NEAR/2", "text:w", "a + b", "^q", "x'; DROP TABLE events; --", "(", ")", "{a b}", "*", "**",
		"", "-", "--", ":", "a:b", "\x00", "\xff", "'", "''", "%", "_", "\\", "a\nb", "東", "🚀", "\"\"\"", "- -", strings.Repeat("a ", 60),
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
			if _, err := t.Store.Search(t.Context(), q); err != nil {
				t.Errorf("Search(%+v) = %v", q, err)
			}
		}
		if q, err := search.Parse(text); err == nil {
			if _, err := t.Store.Search(t.Context(), q); err != nil {
				t.Errorf("Search of what was typed, %q = %v", text, err)
			}
		}
	}
	t.WantFound("AND NOT", harness.At("a", 2))
	t.WantFound("NEAR", harness.At("a", 2))
	t.WantFound("text:w", harness.At("a", 2))
}
