package reads

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func liveMessages() []harness.Check {
	return []harness.Check{
		{Name: "what was taken back is not counted, and is after a redo", Run: takenBack},
		{Name: "what was withdrawn is not counted, and is when it is put back", Run: withdrawn},
		{Name: "the first and last words are those of turns that stand", Run: wordsOfLiveTurns},
		{Name: "a fork counts what it shows, whatever its parent takes back", Run: forkStands},
		{Name: "a stream that broke and was taken back ten times is one answer", Run: brokeTenTimes},
		{Name: "what is said again after it was taken back is another message", Run: saidAgain},
		{Name: "in a batch as event by event", Run: standsInBatch},
		{Name: "whatever is taken back, withdrawn, put back and forked, it is what the events add up to", Run: standsAnyhow},
		{Name: "the first and last words are without wrappers after a rewind, too", Run: wordsUnwrapped},
		{Name: "what was taken back is found only where it is asked for, and marked", Run: findsLiveMessages},
		{Name: "what stands only in forks is found, once, in the first of them", Run: findsInForks},
	}
}

// wantStands checks the counts of session id, and its first and last prompt.
func wantStands(t *harness.Test, id skein.SessionID, messages, turns int, first, last string) {
	t.Helper()
	s := t.Session(id)
	got := fmt.Sprintf("%d messages in %d turns, from %q to %q", s.Messages, s.Turns, s.First, s.LastPrompt)
	if want := fmt.Sprintf("%d messages in %d turns, from %q to %q", messages, turns, first, last); got != want {
		t.Errorf("session %s has %s, want %s", id, got, want)
	}
	t.WantFolded(id)
}

func takenBack(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("one"), fixture.Answered("1"), fixture.User("two"), fixture.Answered("2"), fixture.User("three"))
	wantStands(t, "a", 5, 3, "one", "three")
	t.Add("a", fixture.Rewound(3))
	wantStands(t, "a", 2, 1, "one", "one")
	t.Add("a", fixture.User("other"), fixture.Answered("o"))
	wantStands(t, "a", 4, 2, "one", "other")
	if es, err := t.Store.Newest(t.Context(), "a", 1, 0); err != nil || len(es) != 1 || es[0].Turn != 4 {
		t.Errorf("Newest = %+v, %v, want a message of turn 4: turns keep their numbers", es, err)
	}
	t.Add("a", fixture.Rewound(6)) // a redo
	wantStands(t, "a", 5, 3, "one", "three")
	t.Add("a", fixture.Rewound(0))
	wantStands(t, "a", 0, 0, "", "")
	t.Add("a", fixture.User("anew"))
	wantStands(t, "a", 1, 1, "anew", "anew")
}

func withdrawn(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("one"), fixture.Answered("1"), fixture.User("two"), fixture.Answered("2"), fixture.Piece("p", "x"), fixture.Piece("p", "y"))
	t.Add("a", fixture.Withdraw(4), fixture.Withdraw(5))
	wantStands(t, "a", 3, 1, "one", "one")
	t.Add("a", fixture.Withdraw(6))
	wantStands(t, "a", 3, 1, "one", "one")
	t.Add("a", fixture.Withdraw(7))
	wantStands(t, "a", 2, 1, "one", "one")
	t.Add("a", fixture.Withdraw(7))
	wantStands(t, "a", 2, 1, "one", "one")
	t.Add("a", fixture.Amend(4, fixture.User("two again")))
	wantStands(t, "a", 3, 2, "one", "two again")
	t.Add("a", fixture.Piece("p", "z"))
	wantStands(t, "a", 4, 2, "one", "two again")
	t.Add("a", fixture.Rewound(3))
	wantStands(t, "a", 2, 1, "one", "one")
	t.Add("a", fixture.Withdraw(3))
	wantStands(t, "a", 1, 1, "one", "one")
}

func wordsOfLiveTurns(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("one"), fixture.Answered("1"), fixture.User(""), fixture.User("three"))
	t.Add("a", fixture.Withdraw(2))
	wantStands(t, "a", 3, 2, "three", "three")
	t.Add("a", fixture.Amend(5, fixture.User("third")))
	wantStands(t, "a", 3, 2, "third", "third")
	t.Add("a", fixture.Withdraw(5))
	wantStands(t, "a", 2, 1, "", "")
	t.Add("a", fixture.Amend(4, fixture.User("second")))
	wantStands(t, "a", 2, 1, "second", "second")
}

func forkStands(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("one"), fixture.Answered("1"), fixture.User("two"), fixture.Answered("2"))
	t.Add("before", fixture.Fork("a", 5))
	t.Add("a", fixture.Rewound(3), fixture.User("else"), fixture.Withdraw(2))
	t.Add("after", fixture.Fork("a", 7), fixture.User("own"))
	t.Add("ever", fixture.Fork("a", 8))
	t.Add("of", fixture.Fork("before", 6), fixture.Rewound(4), fixture.User("new"))
	wantStands(t, "a", 2, 1, "else", "else")
	wantStands(t, "before", 4, 2, "one", "two")
	wantStands(t, "after", 4, 3, "one", "own")
	wantStands(t, "ever", 2, 1, "else", "else")
	wantStands(t, "of", 4, 3, "one", "new")
	t.Delete("a")
	t.Add("before", fixture.Rewound(1), fixture.User("x"))
	wantStands(t, "before", 1, 1, "x", "x")
	t.Add("after", fixture.Rewound(5))
	wantStands(t, "after", 4, 2, "one", "two")
}

func brokeTenTimes(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("one"))
	for i := range 10 {
		broken := skein.Say(fixture.Noon, skein.Message{Role: skein.RoleAssistant, Interrupted: true, Parts: []skein.Part{skein.TextPart(fmt.Sprint("part", i))}})
		t.Add("a", broken, fixture.Rewound(2))
	}
	t.Add("a", fixture.Answered("whole"))
	wantStands(t, "a", 2, 1, "one", "one")
}

func saidAgain(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("one"), fixture.Piece("p", "first"), fixture.Piece("p", "more"), fixture.Rewound(2))
	wantStands(t, "a", 1, 1, "one", "one")
	t.Add("a", fixture.Piece("p", "second"))
	wantStands(t, "a", 2, 1, "one", "one")
	t.Add("a", fixture.Piece("p", "and on"))
	wantStands(t, "a", 2, 1, "one", "one")
	es, err := t.Store.Newest(t.Context(), "a", 5, 0)
	if err != nil || len(es) != 3 || !es[1].Rewound || es[2].Rewound || es[2].Message.Words() != "second\n\nand on" {
		t.Errorf("Newest = %+v, %v, want what was taken back, marked, and what was said again", es, err)
	}
	t.Add("a", fixture.Rewound(4))
	wantStands(t, "a", 2, 1, "one", "one")
}

func standsInBatch(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("one"), fixture.Answered("1"), fixture.Rewound(1), fixture.User("two"), fixture.Piece("p", "x"), fixture.Withdraw(6), fixture.Piece("p", "y"), fixture.User("three"), fixture.Rewound(8))
	wantStands(t, "a", 2, 1, "two", "two")
}

// seeds is how many different sequences standsAnyhow tries.
const seeds = 3

// standsAnyhow performs random operations in a reproducible order.
func standsAnyhow(t *harness.Test) {
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		id := skein.SessionID(fmt.Sprintf("s%d", seed))
		first := fixture.Created()
		for n := range 3 {
			last := t.Add(id, first)
			base := last - 1
			for range 8 {
				var batch []skein.Event
				for range 1 + r.IntN(6) {
					batch = append(batch, someChange(r, base, last+skein.Seq(len(batch))))
				}
				last = t.Add(id, batch...)
				got := t.Session(id)
				want, err := harness.Fold(id, t.Events(id))
				t.NoErr("fold", err)
				want.Revision = got.Revision
				harness.Equal(t, fmt.Sprintf("Session(%s)", id), got, want)
			}
			if t.Failed() {
				return
			}
			parent := id
			id = skein.SessionID(fmt.Sprintf("s%d-%d", seed, n))
			first = fixture.Fork(parent, last-skein.Seq(r.IntN(int(last)/2)))
			if r.IntN(2) == 0 {
				first = fixture.Fork(parent, last)
			}
		}
	}
}

// someChange returns an event for a session whose own events are those after
// base up to last.
func someChange(r *rand.Rand, base, last skein.Seq) skein.Event {
	own := base + 1 + skein.Seq(r.Int64N(int64(last-base)))
	switch r.IntN(12) {
	case 0, 1:
		return fixture.User(fmt.Sprint("prompt ", r.IntN(100)))
	case 2:
		return fixture.User("")
	case 3:
		return fixture.Answered("an answer")
	case 4, 5:
		return fixture.Piece(fmt.Sprint("m", r.IntN(3)), "a piece")
	case 6:
		e := skein.UserSays(fmt.Sprint("piece of a prompt ", r.IntN(100)))
		e.ID = fmt.Sprint("u", r.IntN(2))
		return skein.Say(fixture.Noon, e)
	case 7, 8:
		return fixture.Withdraw(own)
	case 9:
		return fixture.Amend(own, fixture.User(fmt.Sprint("amended ", r.IntN(100))))
	case 10:
		return fixture.Rewound(last - skein.Seq(r.Int64N(int64(min(last, 8)))))
	}
	return fixture.Rewound(skein.Seq(r.Int64N(int64(last) + 1)))
}

func wordsUnwrapped(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("<system-reminder>be kind</system-reminder>"), fixture.User("<system-reminder>be kind</system-reminder>one"), fixture.Answered("1"), fixture.User("two"))
	wantStands(t, "a", 4, 3, "one", "two")
	t.Add("a", fixture.Rewound(4))
	wantStands(t, "a", 3, 2, "one", "one")
	t.Add("a", fixture.Withdraw(3))
	wantStands(t, "a", 2, 1, "", "")
}

func findsLiveMessages(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("needle one"), fixture.User("needle two"), fixture.User("needle three"), fixture.Amend(3, fixture.User("needle amended")))
	t.Add("f", fixture.Fork("a", 4), fixture.User("needle own"))
	t.Add("a", fixture.Titled("needle title"), fixture.Rewound(2))
	wantHits(t, "needle", []lookedUp{
		{"", false, "[a/2 a/6 f/3 f/4 f/6]"},
		{"", true, "[a/2 a/3! a/6 f/3 f/4 f/6]"},
		{"a", false, "[a/2 a/6]"},
		{"a", true, "[a/2 a/3! a/4! a/6]"},
		{"f", false, "[f/2 f/3 f/4 f/6]"},
		{"f", true, "[f/2 f/3 f/4 f/6]"},
	})
	t.Add("f", fixture.Rewound(2))
	wantHits(t, "needle", []lookedUp{{"", false, "[a/2 a/6]"}, {"", true, "[a/2 a/3! a/4! a/6 f/3! f/6!]"}})
}

func findsInForks(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.User("needle one"), fixture.User("needle two"), fixture.User("needle three"), fixture.User("needle four"))
	t.Add("short", fixture.Fork("a", 3))
	t.Add("g", fixture.Fork("a", 5))
	t.Add("of", fixture.Fork("g", 5))
	t.Add("a", fixture.Amend(2, fixture.User("needle amended")), fixture.Withdraw(3), fixture.Rewound(3))
	wantHits(t, "needle", []lookedUp{{"", false, "[a/2 g/4 g/5 short/2 short/3]"}, {"of", false, "[of/2 of/3 of/4 of/5]"}})
	t.Add("g", fixture.Rewound(3))
	wantHits(t, "needle", []lookedUp{{"", false, "[a/2 of/4 of/5 short/2 short/3]"}})
	t.Bin("short")
	wantHits(t, "needle", []lookedUp{{"", false, "[a/2 g/2 g/3 of/4 of/5]"}})
	t.Bin("a")
	wantHits(t, "needle", []lookedUp{{"", false, "[g/2 g/3 of/4 of/5]"}, {"", true, "[g/2 g/3 of/4 of/5]"}, {"a", true, "[]"}})
	t.Bin("of")
	wantHits(t, "needle", []lookedUp{{"", false, "[g/2 g/3]"}, {"", true, "[g/2 g/3 g/4! g/5!]"}})
	q := skein.Query{Terms: []skein.Term{{Words: []string{"needle"}}}, Deadline: harness.Patience}
	if r, err := t.Store.Search(t.Context(), q); err != nil || len(r.Hits) != 1 || r.Hits[0].Session != "g" || r.Hits[0].Count != 2 {
		t.Errorf("Search(%+v) = %+v, %v, want one hit in g, which counts 2", q, r, err)
	}
	t.Delete("a")
	wantHits(t, "needle", []lookedUp{{"", false, "[g/2 g/3]"}, {"", true, "[g/2 g/3 g/4! g/5!]"}})
}

// A lookedUp is the expected result of a search, everywhere or in one session:
// SESSION/SEQ of each hit in order, with ! after rewound ones.
type lookedUp struct {
	in      skein.SessionID
	rewound bool
	want    string
}

// wantHits checks the results of all ways to search for a word.
func wantHits(t *harness.Test, word string, all []lookedUp) {
	t.Helper()
	for _, q := range []skein.Query{{Terms: []skein.Term{{Words: []string{word}}}}, {Substring: word[1:]}, {Regex: word[:1] + "." + word[2:]}} {
		q.Each, q.Deadline = true, harness.Patience
		for _, c := range all {
			q.Session, q.Rewound = c.in, c.rewound
			r, err := t.Store.Search(t.Context(), q)
			got := []string{}
			for _, h := range r.Hits {
				at := fmt.Sprintf("%s/%d", h.Session, h.Seq)
				if h.Rewound {
					at += "!"
				}
				got = append(got, at)
			}
			slices.Sort(got)
			if err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("Search(%+v) = %v, %v, want %s", q, got, err, c.want)
			}
		}
	}
}
