package reads

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func bestOrEach(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("needle"), fixture.User("nothing"), fixture.User("needle needle needle"), fixture.User("a needle in a long haystack of other words that matter more"))
	t.Add("b", fixture.Created(), fixture.User("needle"))
	r, err := t.Store.Search(t.Context(), skein.Query{Terms: []skein.Term{{Words: []string{"needle"}}}, Deadline: harness.Patience})
	t.NoErr("Search", err)
	count := map[skein.SessionID]int{}
	for _, h := range r.Hits {
		count[h.Session] += max(h.Count, 1)
	}
	if len(r.Hits) != 2 || count["b"] != 1 || count["a"] != 3 && count["a"] != 1 {
		t.Errorf("Search gives %+v, want one hit of each session, of 3 and of 1 if counted", r.Hits)
	}
	if n := len(t.Find("needle")); n != 4 {
		t.Errorf("Search for each gives %d hits, want 4", n)
	}
	for _, hits := range [][]skein.Hit{r.Hits, t.Find("needle")} {
		if !slices.IsSortedFunc(hits, func(a, b skein.Hit) int { return -cmpFloat(a.Score, b.Score) }) {
			t.Errorf("the hits are not in the order of their scores: %+v", hits)
		}
	}
}

// counts checks that the count of a hit is how many hits a search for each
// lists in its session, including titles, or 0 if not all was searched.
func counts(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("b", fixture.Created())
	for i := range 60 {
		t.Add("a", fixture.User(fmt.Sprintf("needle %d", i)), fixture.User("needle again"), fixture.User("hay"))
		t.Add("b", fixture.User("one more needle"))
	}
	t.Add("a", skein.NewEvent(skein.KindTitled, fixture.Noon, skein.Titled{Title: "needles and needle"}))
	word := skein.Term{Words: []string{"needle"}}
	prefix := skein.Term{Words: []string{"need"}, Prefix: true}
	for name, q := range map[string]skein.Query{
		"a word": {Terms: []skein.Term{word}}, "a prefix": {Terms: []skein.Term{prefix}}, "a text": {Substring: "needle"}, "an expression": {Regex: "need[l]e"},
	} {
		q.Deadline = harness.Patience
		for _, q.Limit = range []int{1, 20} {
			each := q
			each.Each, each.Limit = true, 1000
			all, err := t.Store.Search(t.Context(), each)
			t.NoErr("Search for each", err)
			of := map[skein.SessionID]int{}
			for _, h := range all.Hits {
				of[h.Session]++
			}
			r, err := t.Store.Search(t.Context(), q)
			t.NoErr("Search", err)
			if len(r.Hits) != min(q.Limit, 2) {
				t.Errorf("Search for %s gives %d hits, want %d", name, len(r.Hits), min(q.Limit, 2))
			}
			for _, h := range r.Hits {
				if h.Count != 0 && h.Count != of[h.Session] {
					t.Errorf("Search for %s, at most %d: the hit of %s counts %d, want %d, which a search for each lists, or 0", name, q.Limit, h.Session, h.Count, of[h.Session])
				}
			}
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

func hits(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("first"), fixture.Answered("an answer with the Needle\nin\x02 it\x03 and so on"), fixture.User("second"))
	t.Add("a", fixture.Ran("bash", "c", `{"command":"ls"}`, strings.Repeat("before ", 100)+"needle"+strings.Repeat(" after", 100))...)
	found := t.Find("needle")
	if len(found) != 2 {
		t.Fatalf("Search gives %+v, want two hits", found)
	}
	slices.SortFunc(found, func(a, b skein.Hit) int { return int(a.Seq - b.Seq) })
	h := found[0]
	if h.Session != "a" || h.Seq != 3 || h.Turn != 1 || h.Role != skein.RoleAssistant || h.Time != fixture.Noon+2*fixture.Second {
		t.Errorf("the hit is %+v, want the assistant's message at 3 in turn 1", h)
	}
	if !strings.Contains(h.Snippet, skein.Mark+"Needle"+skein.EndMark) || strings.Count(h.Snippet, skein.Mark) != 1 || strings.Count(h.Snippet, skein.EndMark) != 1 || strings.Contains(h.Snippet, "\n") {
		t.Errorf("the snippet is %q, want the match between marks, no marks of the text, one line", h.Snippet)
	}
	if h = found[1]; h.Turn != 2 || h.Role != skein.RoleTool || !strings.Contains(h.Snippet, skein.Mark+"needle"+skein.EndMark) || len(h.Snippet) > 600 {
		t.Errorf("the hit is %+v, want a short snippet around the match in turn 2", h)
	}
}

func amendedFound(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("before"), fixture.User("withdrawn"), fixture.User("stays"))
	t.Add("a", skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 2, Payload: skein.MustJSON(skein.UserSays("afterwards"))}))
	t.WantFound("before")
	t.WantFound("afterwards", harness.At("a", 2))
	t.Add("a", skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 3, Withdrawn: true}))
	t.WantFound("withdrawn")
	t.Add("a", skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 2, Payload: skein.MustJSON(skein.UserSays("thirdly"))}))
	t.WantFound("afterwards")
	t.WantFound("thirdly", harness.At("a", 2))
	t.WantFound("stays", harness.At("a", 4))
	t.Add("a", skein.NewEvent(skein.KindAmended, fixture.Noon, skein.Amended{Seq: 3, Payload: skein.MustJSON(skein.UserSays("restated"))}))
	t.WantFound("restated", harness.At("a", 3))
}

func wholeHits(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("the needle"), fixture.User("before"), skein.NewEvent(skein.KindTitled, fixture.Noon, skein.Titled{Title: "needles of steel"}))
	t.Add("a", skein.NewEvent(skein.KindAmended, fixture.Noon+fixture.Second, skein.Amended{Seq: 3, Payload: skein.MustJSON(skein.UserSays("needle, afterwards"))}))
	q := skein.Query{Substring: "needle", Each: true}
	for _, h := range t.Search(q) {
		if h.Event != nil {
			t.Errorf("the hit %+v has an event that was not asked for", h)
		}
	}
	q.Whole = true
	got := map[skein.Seq]string{}
	for _, h := range t.Search(q) {
		if h.Event != nil {
			got[h.Seq] = fmt.Sprintf("%d %s %s", h.Event.Seq, h.Event.Kind, h.Event.Payload)
		}
	}
	want := map[skein.Seq]string{}
	for e, err := range t.Store.Events(t.Context(), "a", 1) {
		t.NoErr("Events", err)
		switch {
		case e.Seq == 3:
			e.Payload = skein.MustJSON(skein.UserSays("needle, afterwards"))
		case e.Seq > 4:
			continue
		}
		want[e.Seq] = fmt.Sprintf("%d %s %s", e.Seq, e.Kind, e.Payload)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hits with the events that stand there (-want +got):\n%s", diff)
	}
}

func longHits(t *harness.Test) {
	const n, each = 6, skein.MaxWhole / 4
	t.Add("a", fixture.Created())
	for i := range n {
		t.Add("a", fixture.User(fmt.Sprintf("needle %d %s", i, strings.Repeat("x", each))))
	}
	for _, whole := range []bool{false, true} {
		q := skein.Query{Substring: "needle", Session: "a", Each: true, Whole: whole, Limit: n, Deadline: harness.Patience}
		r, err := t.Store.Search(t.Context(), q)
		size := 0
		for _, h := range r.Hits {
			if (h.Event != nil) != whole {
				t.Errorf("with Whole %v: the hit %d has an event: %v", whole, h.Seq, h.Event != nil)
			}
			if h.Event != nil {
				size += len(h.Event.Payload)
			}
		}
		if err != nil || r.CutOff != whole || !whole && len(r.Hits) != n || whole && len(r.Hits) == 0 || size > skein.MaxWhole+2*each {
			t.Errorf("with Whole %v: %d hits with %d bytes of events, cut off %v, %v", whole, len(r.Hits), size, r.CutOff, err)
		}
	}
}

// newestHits checks that a search for the newest matches does not depend on how often
// they match.
func newestHits(t *harness.Test) {
	t.Add("a", fixture.Created())
	var evs []skein.Event
	for i := range 300 {
		evs = append(evs, skein.Say(fixture.Noon+skein.Time(i), skein.UserSays("plum "+strings.Repeat("plum ", 300-i)+strings.Repeat("and so on ", i))))
	}
	t.Add("a", evs...)
	for _, q := range []skein.Query{{Terms: []skein.Term{{Words: []string{"plum"}}}}, {Substring: "plum"}} {
		for limit := range 6 {
			q.Each, q.Newest, q.Limit, q.Deadline = true, true, 50*limit+1, harness.Patience
			r, err := t.Store.Search(t.Context(), q)
			if err != nil || len(r.Hits) != q.Limit {
				t.Fatalf("Search for the %d newest = %d hits, %v", q.Limit, len(r.Hits), err)
			}
			for i, h := range r.Hits {
				if want := skein.Seq(301 - i); h.Seq != want || h.Score != 0 {
					t.Fatalf("Search for the %d newest gives seq %d with score %v as hit %d, want seq %d and no score", q.Limit, h.Seq, h.Score, i+1, want)
				}
			}
		}
	}
}

func limits(t *harness.Test) {
	t.Add("a", fixture.Created())
	var evs []skein.Event
	for i := range 50 {
		evs = append(evs, fixture.User(fmt.Sprint("common word ", i)))
	}
	t.Add("a", evs...)
	for limit, want := range map[int]int{0: 20, 1: 1, 7: 7, 100: 50, math.MaxInt: 50} {
		r, err := t.Store.Search(t.Context(), skein.Query{Substring: "common", Each: true, Limit: limit, Deadline: harness.Patience})
		if err != nil || len(r.Hits) != want || r.CutOff {
			t.Errorf("Search with the limit %d gives %d hits (cut off %v), %v, want %d", limit, len(r.Hits), r.CutOff, err, want)
		}
	}
	for _, q := range []skein.Query{{Substring: "common"}, {Regex: "c.m+on"}, {Terms: []skein.Term{{Words: []string{"common"}}}}} {
		q.Deadline = time.Nanosecond
		r, err := t.Store.Search(t.Context(), q)
		if err != nil || len(r.Hits) == 0 {
			t.Errorf("Search with no time = %+v, %v, want hits", r, err)
		}
	}
}

func emptyQuery(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("x"))
	for _, q := range []skein.Query{{}, {Each: true, Limit: 5}, {User: skein.Local}} {
		if hits := t.Search(q); len(hits) > 0 {
			t.Errorf("Search(%+v) = %+v, want nothing", q, hits)
		}
	}
	t.WantFound("...")
}
