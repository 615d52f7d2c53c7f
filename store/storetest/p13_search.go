package storetest

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
)

func searching() []check {
	return []check{
		{name: "at once after Append", run: atOnce},
		{name: "at once, whoever appends, 16 writers", run: atOnceMany},
		{name: "at once, through another handle", two: atOnceAcross},
		{name: "words, phrases, beginnings, and without", run: terms},
		{name: "identifiers, paths, accents, Chinese, Japanese and Korean", run: scripts},
		{name: "substrings and regular expressions", run: patterns},
		{name: "what stands inside words, however old", run: insideWords},
		{name: "text is never syntax", run: neverSyntax},
		{name: "tools, paths, errors, roles, agents, projects, times", run: narrowed},
		{name: "everything that was said or done has its text", run: everyText},
		{name: "the best of each session, or each", run: bestOrEach},
		{name: "the newest, whatever their rank", run: newestHits},
		{name: "a hit counts what there is for each", run: counts},
		{name: "hits say where, who, when, and show the match", run: hits},
		{name: "what was amended is found as it is now", run: amendedFound},
		{name: "a hit has what stands there, if that is asked for", run: wholeHits},
		{name: "hits with what stands there take no more memory than they may", run: longHits},
		{name: "the limit and the deadline", run: limits},
		{name: "on a busy machine, the newest first", run: busyMachine},
		{name: "an endless expression ends with the search", run: endless},
		{name: "an empty query finds nothing", run: emptyQuery},
		{name: "the index says what it does not have yet", run: lagOfIndex},
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
		"tool:EDIT":               {at("a", 5), at("a", 6)},
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

// lagOfIndex checks that a store that reports the lag of its index reports only
// possible values.
func lagOfIndex(t *test) {
	g, ok := skein.PartOf[inspect.IndexLag](t.s)
	if !ok {
		return // it needs no index, or updates it at once
	}
	look := func(most int) inspect.Lag {
		l, err := g.Lag(t.Context())
		t.noErr("Lag", err)
		if l.Events < 0 || l.Events > most || (l.Events == 0) != (l.Since == 0) {
			t.Errorf("Lag = %+v, want 0 to %d events, and since when if there are any", l, most)
		}
		return l
	}
	look(0)
	t.add("a", created(), user("one"), user("two"))
	look(3)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(late); look(3).Events > 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("Lag still says that events wait: the index is never fed")
		}
		t.wantFound("one", at("a", 2))
	}
}
