package reads

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func searching() []harness.Check {
	return []harness.Check{
		{Name: "at once after Append", Run: atOnce},
		{Name: "at once, whoever appends, 16 writers", Run: atOnceMany},
		{Name: "at once, through another handle", Two: atOnceAcross},
		{Name: "words, phrases, beginnings, and without", Run: terms},
		{Name: "any of several words", Run: anyWord},
		{Name: "a word that differs by one letter is suggested", Run: suggestions},
		{Name: "words of a long text, however far apart", Run: longText},
		{Name: "identifiers, paths, accents, Chinese, Japanese and Korean", Run: scripts},
		{Name: "substrings and regular expressions", Run: patterns},
		{Name: "what stands inside words, however old", Run: insideWords},
		{Name: "text is never syntax", Run: neverSyntax},
		{Name: "tools, paths, errors, roles, agents, projects, times", Run: narrowed},
		{Name: "everything that was said or done has its text", Run: everyText},
		{Name: "the best of each session, or each", Run: bestOrEach},
		{Name: "the newest, whatever their rank", Run: newestHits},
		{Name: "a hit counts what there is for each", Run: counts},
		{Name: "hits say where, who, when, and show the match", Run: hits},
		{Name: "what was amended is found as it is now", Run: amendedFound},
		{Name: "a hit has what stands there, if that is asked for", Run: wholeHits},
		{Name: "hits with what stands there take no more memory than they may", Run: longHits},
		{Name: "the limit and the deadline", Run: limits},
		{Name: "on a busy machine, the newest first", Run: busyMachine},
		{Name: "an endless expression ends with the search", Run: endless},
		{Name: "an empty query finds nothing", Run: emptyQuery},
		{Name: "the index says what it does not have yet", Run: lagOfIndex},
	}
}

func atOnce(t *harness.Test) {
	t.Add("a", fixture.Created())
	for i := range 30 {
		word := fmt.Sprintf("xylo%dphone", i)
		last := t.Add("a", fixture.User("some "+word+" here"))
		t.WantFound(word, harness.At("a", last))
	}
	t.WantFound("some here", places("a", 2, 31)...)
}

// places returns the places from first to last of a session.
func places(id skein.SessionID, first, last skein.Seq) (ps []skein.Place) {
	for seq := first; seq <= last; seq++ {
		ps = append(ps, harness.At(id, seq))
	}
	return ps
}

func atOnceMany(t *harness.Test) {
	harness.Everyone(16, func(w int) {
		id := skein.SessionID(fmt.Sprint("s", w))
		if _, err := skein.Add(context.Background(), t.Store, id, fixture.Created()); err != nil {
			t.Errorf("Append = %v", err)
		}
		for i := range 5 {
			word := fmt.Sprintf("w%dn%d", w, i)
			last, err := skein.Add(context.Background(), t.Store, id, fixture.User(word))
			if err != nil {
				t.Errorf("Append = %v", err)
				return
			}
			r, err := t.Store.Search(context.Background(), skein.Query{Terms: []skein.Term{{Words: []string{word}}}, Deadline: harness.Patience})
			if err != nil || len(r.Hits) != 1 || r.Hits[0].Session != id || r.Hits[0].Seq != last {
				t.Errorf("Search(%s) = %+v, %v, want %s %d", word, r, err, id, last)
			}
		}
	})
}

func atOnceAcross(t *harness.Test, other skein.Store) {
	t.Add("a", fixture.Created())
	for i := range 10 {
		word := fmt.Sprintf("across%d", i)
		last := t.Add("a", fixture.User(word))
		r, err := other.Search(t.Context(), skein.Query{Terms: []skein.Term{{Words: []string{word}}}, Deadline: harness.Patience})
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Seq != last {
			t.Errorf("Search(%s) at the other handle = %+v, %v, want seq %d", word, r, err, last)
		}
	}
}

func narrowed(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Agent: "coder", Project: "/src/api", Origin: &skein.Origin{Format: "codex", Path: "/p"}}), fixture.User("needle from a person")) // 2
	t.Add("a", fixture.Ran("bash", "c1", `{"command":"grep needle","path":"/src/api/store.go"}`, "needle: found")...)                                                       // 3, 4
	t.Add("a", fixture.Ran("edit", "c2", `{"file_path":"/src/api/other.go","text":"needle"}`, "needle: no such file", "failed")...)                                         // 5, 6
	t.Add("b", fixture.Begin(skein.Created{Agent: "writer", Project: "/src/web", Checkout: &skein.Checkout{Repository: "example.com/team/site"}}), fixture.User("needle in b"))
	sub := skein.Say(fixture.Noon+100*fixture.Second, skein.Message{Role: skein.RoleAssistant, Agent: "sub", Parts: []skein.Part{skein.TextPart("needle of a sub-agent")}})
	t.Add("b", sub, skein.Say(fixture.Noon, skein.Message{Role: skein.RoleAssistant, Error: &skein.ErrorInfo{Message: "needle overloaded"}, Parts: []skein.Part{}}))
	for query, want := range map[string][]skein.Place{
		"needle":                               {harness.At("a", 2), harness.At("a", 3), harness.At("a", 4), harness.At("a", 5), harness.At("a", 6), harness.At("b", 2), harness.At("b", 3), harness.At("b", 4)},
		"needle role:user":                     {harness.At("a", 2), harness.At("b", 2)},
		"needle role:tool":                     {harness.At("a", 4), harness.At("a", 6)},
		"needle tool:bash":                     {harness.At("a", 3), harness.At("a", 4)},
		"tool:edit":                            {harness.At("a", 5), harness.At("a", 6)},
		"tool:EDIT":                            {harness.At("a", 5), harness.At("a", 6)},
		"tool:edi":                             nil,
		"needle status:error":                  {harness.At("a", 6), harness.At("b", 4)},
		"status:error tool:edit":               {harness.At("a", 6)},
		"needle file:store.go":                 {harness.At("a", 3)},
		"file:/src/api/":                       {harness.At("a", 3), harness.At("a", 5)},
		"needle agent:writer":                  {harness.At("b", 2), harness.At("b", 4)},
		"needle agent:sub":                     {harness.At("b", 3)},
		"needle project:/src/api":              places("a", 2, 6),
		"needle project:web":                   places("b", 2, 4),
		"needle project:eb":                    nil,
		"project:example.com/team/site needle": places("b", 2, 4),
		"needle project:site":                  places("b", 2, 4),
		"needle project:ite":                   nil,
		"needle session:b":                     places("b", 2, 4),
		"session:b role:user":                  {harness.At("b", 2)},
	} {
		t.WantFound(query, want...)
	}
	for _, c := range []struct {
		q    skein.Query
		want int
	}{
		{skein.Query{Origin: "codex"}, 5},
		{skein.Query{Origin: "other"}, 0},
		{skein.Query{Repository: "example.com/team/site"}, 3},
		{skein.Query{Repository: "site"}, 0},
		{skein.Query{Project: "/src/api", Repository: "example.com/team/site"}, 8},
		{skein.Query{Project: "/elsewhere", Repository: "example.com/team/site"}, 3},
		{skein.Query{Repository: "example.com/team/site", Session: "a"}, 0},
		{skein.Query{User: skein.Local, Role: skein.RoleUser}, 2},
		{skein.Query{User: "nobody", Role: skein.RoleUser}, 0},
		{skein.Query{Since: fixture.Noon + 100*fixture.Second}, 1},
		{skein.Query{Since: fixture.Noon + 100*fixture.Second + 1}, 0},
		{skein.Query{Until: fixture.Noon + 100*fixture.Second, Session: "b"}, 2},
		{skein.Query{Until: fixture.Noon + 1}, 1},
		{skein.Query{Until: fixture.Noon}, 0},
	} {
		c.q.Each = true
		if got := len(t.Search(c.q)); got != c.want {
			t.Errorf("Search(%+v) gives %d hits, want %d", c.q, got, c.want)
		}
	}
}

func everyText(t *harness.Test) {
	t.Add("a", fixture.Created(), skein.Say(fixture.Noon, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{
		{Kind: skein.PartReasoning, Text: "pondering"},
		{Kind: skein.PartText, Text: "speaking"},
		{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "hammer", Input: []byte(`{"deep":{"list":["nailing"]},"n":12345}`)}},
		{Kind: skein.PartResult, Result: &skein.Result{CallID: "c", Text: "resulting"}},
		{Kind: skein.PartFile, File: &skein.File{Name: "drawing.png"}},
		{Kind: skein.PartSummary, Text: "summing"},
		{Kind: "unheard", Text: "humming"},
	}}))
	t.Add("a", fixture.Titled("entitled"))
	t.Add("a", skein.NewEvent(skein.KindCompacted, fixture.Noon, skein.Compacted{To: 2, Summary: "condensed"}))
	for word, seq := range map[string]skein.Seq{
		"pondering": 2, "speaking": 2, "hammer": 2, "nailing": 2, "resulting": 2, "drawing": 2, "summing": 2, "humming": 2,
		"entitled": 3, "condensed": 4,
	} {
		t.WantFound(word, harness.At("a", seq))
	}
	t.Add("kid", fixture.Child("a"), fixture.User("delegated"))
	t.WantFound("delegated", harness.At("kid", 2))
	big := strings.Repeat("hay ", 40_000) + "needle " + strings.Repeat("hay ", 40_000)
	t.Add("a", fixture.Ran("cat", "c9", `{}`, big)...)
	t.WantFound("needle", harness.At("a", 6))
}

// lagOfIndex checks that a store that reports the lag of its index reports only
// possible values.
func lagOfIndex(t *harness.Test) {
	g, ok := skein.PartOf[inspect.IndexLag](t.Store)
	if !ok {
		return // it needs no index, or updates it at once
	}
	look := func(most int) inspect.Lag {
		l, err := g.Lag(t.Context())
		t.NoErr("Lag", err)
		if l.Events < 0 || l.Events > most || (l.Events == 0) != (l.Since == 0) {
			t.Errorf("Lag = %+v, want 0 to %d events, and since when if there are any", l, most)
		}
		return l
	}
	look(0)
	t.Add("a", fixture.Created(), fixture.User("one"), fixture.User("two"))
	look(3)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(harness.Late); look(3).Events > 0; <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("Lag still says that events wait: the index is never fed")
		}
		t.WantFound("one", harness.At("a", 2))
	}
}
