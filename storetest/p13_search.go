package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

func searching() []check {
	return []check{
		{name: "at once after Append", run: atOnce},
		{name: "at once, whoever appends, 16 writers", run: atOnceMany},
		{name: "at once, through another handle", two: atOnceAcross},
		{name: "words, phrases, beginnings, and without", run: terms},
		{name: "identifiers, paths, accents, Chinese, Japanese and Korean", run: scripts},
		{name: "substrings and regular expressions", run: patterns},
		{name: "text is never syntax", run: neverSyntax},
		{name: "tools, paths, errors, roles, agents, projects, times", run: narrowed},
		{name: "everything that was said or done has its text", run: everyText},
		{name: "the best of each session, or each", run: bestOrEach},
		{name: "hits say where, who, when, and show the match", run: hits},
		{name: "what was amended is found as it is now", run: amendedFound},
		{name: "the limit and the deadline", run: limits},
		{name: "an empty query finds nothing", run: emptyQuery},
	}
}

func atOnce(t *test) {
	t.add("a", created())
	for i := range 30 {
		word := fmt.Sprintf("xylo%dphone", i)
		last := t.add("a", user("some "+word+" here"))
		t.wantFound(word, at("a", last))
	}
	t.wantFound("some here", places("a", 2, 31)...)
}

// places returns the places from first to last of a session.
func places(id skein.SessionID, first, last skein.Seq) (ps []skein.Place) {
	for seq := first; seq <= last; seq++ {
		ps = append(ps, at(id, seq))
	}
	return ps
}

func atOnceMany(t *test) {
	everyone(16, func(w int) {
		id := skein.SessionID(fmt.Sprint("s", w))
		if _, err := skein.Add(context.Background(), t.s, id, created()); err != nil {
			t.Errorf("Append = %v", err)
		}
		for i := range 5 {
			word := fmt.Sprintf("w%dn%d", w, i)
			last, err := skein.Add(context.Background(), t.s, id, user(word))
			if err != nil {
				t.Errorf("Append = %v", err)
				return
			}
			r, err := t.s.Search(context.Background(), skein.Query{Terms: []skein.Term{{Words: []string{word}}}, Deadline: patience})
			if err != nil || len(r.Hits) != 1 || r.Hits[0].Session != id || r.Hits[0].Seq != last {
				t.Errorf("Search(%s) = %+v, %v, want %s %d", word, r, err, id, last)
			}
		}
	})
}

func atOnceAcross(t *test, other skein.Store) {
	t.add("a", created())
	for i := range 10 {
		word := fmt.Sprintf("across%d", i)
		last := t.add("a", user(word))
		r, err := other.Search(t.Context(), skein.Query{Terms: []skein.Term{{Words: []string{word}}}, Deadline: patience})
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Seq != last {
			t.Errorf("Search(%s) at the other handle = %+v, %v, want seq %d", word, r, err, last)
		}
	}
}

// found wants queries to find these messages of session a, the first of which
// is at 2.
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
		if q, err := skein.ParseQuery(text); err == nil {
			if _, err := t.s.Search(t.Context(), q); err != nil {
				t.Errorf("Search of what was typed, %q = %v", text, err)
			}
		}
	}
	t.wantFound("AND NOT", at("a", 2))
	t.wantFound("NEAR", at("a", 2))
	t.wantFound("text:w", at("a", 2))
}

func narrowed(t *test) {
	t.add("a", begin(skein.Created{Agent: "coder", Project: "/src/api", Origin: &skein.Origin{Format: "codex", Path: "/p"}}), user("needle from a person")) // 2
	t.add("a", ran("bash", "c1", `{"command":"grep needle","path":"/src/api/store.go"}`, "needle: found")...)                                               // 3, 4
	t.add("a", ran("edit", "c2", `{"file_path":"/src/api/other.go","text":"needle"}`, "needle: no such file", "failed")...)                                 // 5, 6
	t.add("b", begin(skein.Created{Agent: "writer", Project: "/src/web"}), user("needle in b"))
	sub := skein.Say(noon+100*second, skein.Message{Role: skein.RoleAssistant, Agent: "sub", Parts: []skein.Part{skein.TextPart("needle of a sub-agent")}})
	t.add("b", sub, skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Error: &skein.ErrorInfo{Message: "needle overloaded"}, Parts: []skein.Part{}}))
	for query, want := range map[string][]skein.Place{
		"needle":                  {at("a", 2), at("a", 3), at("a", 4), at("a", 5), at("a", 6), at("b", 2), at("b", 3), at("b", 4)},
		"needle role:user":        {at("a", 2), at("b", 2)},
		"needle role:tool":        {at("a", 4), at("a", 6)},
		"needle tool:bash":        {at("a", 3), at("a", 4)},
		"tool:edit":               {at("a", 5), at("a", 6)},
		"tool:edi":                nil,
		"needle status:error":     {at("a", 6), at("b", 4)},
		"status:error tool:edit":  {at("a", 6)},
		"needle file:store.go":    {at("a", 3)},
		"file:/src/api/":          {at("a", 3), at("a", 5)},
		"needle agent:writer":     {at("b", 2), at("b", 4)},
		"needle agent:sub":        {at("b", 3)},
		"needle project:/src/api": places("a", 2, 6),
		"needle project:web":      places("b", 2, 4),
		"needle project:eb":       nil,
		"needle session:b":        places("b", 2, 4),
		"session:b role:user":     {at("b", 2)},
	} {
		t.wantFound(query, want...)
	}
	for _, c := range []struct {
		q    skein.Query
		want int
	}{
		{skein.Query{Origin: "codex"}, 5},
		{skein.Query{Origin: "other"}, 0},
		{skein.Query{User: skein.Local, Role: skein.RoleUser}, 2},
		{skein.Query{User: "nobody", Role: skein.RoleUser}, 0},
		{skein.Query{Since: noon + 100*second}, 1},
		{skein.Query{Since: noon + 100*second + 1}, 0},
		{skein.Query{Until: noon + 100*second, Session: "b"}, 2},
		{skein.Query{Until: noon + 1}, 1},
		{skein.Query{Until: noon}, 0},
	} {
		c.q.Each = true
		if got := len(t.search(c.q)); got != c.want {
			t.Errorf("Search(%+v) gives %d hits, want %d", c.q, got, c.want)
		}
	}
}

func everyText(t *test) {
	t.add("a", created(), skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{
		{Kind: skein.PartReasoning, Text: "pondering"},
		{Kind: skein.PartText, Text: "speaking"},
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "hammer", Input: []byte(`{"deep":{"list":["nailing"]},"n":12345}`)}},
		{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: "resulting"}},
		{Kind: skein.PartFile, File: &skein.File{Name: "drawing.png"}},
		{Kind: skein.PartSummary, Text: "summing"},
		{Kind: "unheard", Text: "humming"},
	}}))
	t.add("a", titled("entitled"))
	t.add("a", skein.NewEvent(skein.KindCompacted, noon, skein.Compacted{To: 2, Summary: "condensed"}))
	for word, seq := range map[string]skein.Seq{
		"pondering": 2, "speaking": 2, "hammer": 2, "nailing": 2, "resulting": 2, "drawing": 2, "summing": 2, "humming": 2,
		"entitled": 3, "condensed": 4,
	} {
		t.wantFound(word, at("a", seq))
	}
	t.add("kid", child("a"), user("delegated"))
	t.wantFound("delegated", at("kid", 2))
	big := strings.Repeat("hay ", 40_000) + "needle " + strings.Repeat("hay ", 40_000)
	t.add("a", ran("cat", "c9", `{}`, big)...)
	t.wantFound("needle", at("a", 6))
}

func bestOrEach(t *test) {
	t.add("a", created(), user("needle"), user("nothing"), user("needle needle needle"), user("a needle in a long haystack of other words that matter more"))
	t.add("b", created(), user("needle"))
	r, err := t.s.Search(t.Context(), skein.Query{Terms: []skein.Term{{Words: []string{"needle"}}}, Deadline: patience})
	t.noErr("Search", err)
	count := map[skein.SessionID]int{}
	for _, h := range r.Hits {
		count[h.Session] += max(h.Count, 1)
	}
	if len(r.Hits) != 2 || count["b"] != 1 || count["a"] != 3 && count["a"] != 1 {
		t.Errorf("Search gives %+v, want one hit of each session, of 3 and of 1 if counted", r.Hits)
	}
	if n := len(t.find("needle")); n != 4 {
		t.Errorf("Search for each gives %d hits, want 4", n)
	}
	for _, hits := range [][]skein.Hit{r.Hits, t.find("needle")} {
		if !slices.IsSortedFunc(hits, func(a, b skein.Hit) int { return -cmpFloat(a.Score, b.Score) }) {
			t.Errorf("the hits are not in the order of their scores: %+v", hits)
		}
	}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func hits(t *test) {
	t.add("a", created(), user("first"), answered("an answer with the Needle\nin\x02 it\x03 and so on"), user("second"))
	t.add("a", ran("bash", "c", `{"command":"ls"}`, strings.Repeat("before ", 100)+"needle"+strings.Repeat(" after", 100))...)
	found := t.find("needle")
	if len(found) != 2 {
		t.Fatalf("Search gives %+v, want two hits", found)
	}
	slices.SortFunc(found, func(a, b skein.Hit) int { return int(a.Seq - b.Seq) })
	h := found[0]
	if h.Session != "a" || h.Seq != 3 || h.Turn != 1 || h.Role != skein.RoleAssistant || h.Time != noon+2*second {
		t.Errorf("the hit is %+v, want the assistant's message at 3 in turn 1", h)
	}
	if !strings.Contains(h.Snippet, skein.Mark+"Needle"+skein.EndMark) || strings.Count(h.Snippet, skein.Mark) != 1 || strings.Count(h.Snippet, skein.EndMark) != 1 || strings.Contains(h.Snippet, "\n") {
		t.Errorf("the snippet is %q, want the match between marks, no marks of the text, one line", h.Snippet)
	}
	if h = found[1]; h.Turn != 2 || h.Role != skein.RoleTool || !strings.Contains(h.Snippet, skein.Mark+"needle"+skein.EndMark) || len(h.Snippet) > 600 {
		t.Errorf("the hit is %+v, want a short snippet around the match in turn 2", h)
	}
}

func amendedFound(t *test) {
	t.add("a", created(), user("before"), user("withdrawn"), user("stays"))
	t.add("a", skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 2, Payload: skein.MustJSON(skein.UserSays("afterwards"))}))
	t.wantFound("before")
	t.wantFound("afterwards", at("a", 2))
	t.add("a", skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 3, Withdrawn: true}))
	t.wantFound("withdrawn")
	t.add("a", skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 2, Payload: skein.MustJSON(skein.UserSays("thirdly"))}))
	t.wantFound("afterwards")
	t.wantFound("thirdly", at("a", 2))
	t.wantFound("stays", at("a", 4))
	t.add("a", skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: 3, Payload: skein.MustJSON(skein.UserSays("restated"))}))
	t.wantFound("restated", at("a", 3))
}

func limits(t *test) {
	t.add("a", created())
	var evs []skein.Event
	for i := range 50 {
		evs = append(evs, user(fmt.Sprint("common word ", i)))
	}
	t.add("a", evs...)
	for limit, want := range map[int]int{0: 20, 1: 1, 7: 7, 100: 50} {
		r, err := t.s.Search(t.Context(), skein.Query{Substring: "common", Each: true, Limit: limit, Deadline: patience})
		if err != nil || len(r.Hits) != want || r.CutOff {
			t.Errorf("Search with the limit %d gives %d hits (cut off %v), %v, want %d", limit, len(r.Hits), r.CutOff, err, want)
		}
	}
	for _, q := range []skein.Query{{Substring: "common"}, {Regex: "c.m+on"}, {Terms: []skein.Term{{Words: []string{"common"}}}}} {
		q.Deadline = time.Nanosecond
		r, err := t.s.Search(t.Context(), q)
		if err != nil || len(r.Hits) == 0 && !r.CutOff {
			t.Errorf("Search with no time = %+v, %v, want hits or to be told that it was cut off", r, err)
		}
	}
}

func emptyQuery(t *test) {
	t.add("a", created(), user("x"))
	for _, q := range []skein.Query{{}, {Each: true, Limit: 5}, {User: skein.Local}} {
		if hits := t.search(q); len(hits) > 0 {
			t.Errorf("Search(%+v) = %+v, want nothing", q, hits)
		}
	}
	t.wantFound("...")
}
