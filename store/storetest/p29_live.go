package storetest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/skein-dev/skein"
)

func liveMessages() []check {
	return []check{
		{name: "what was taken back is not counted, and is after a redo", run: takenBack},
		{name: "what was withdrawn is not counted, and is when it is put back", run: withdrawn},
		{name: "the first and last words are those of turns that stand", run: wordsOfLiveTurns},
		{name: "a fork counts what it shows, whatever its parent takes back", run: forkStands},
		{name: "a stream that broke and was taken back ten times is one answer", run: brokeTenTimes},
		{name: "what is said again after it was taken back is another message", run: saidAgain},
		{name: "in a batch as event by event", run: standsInBatch},
		{name: "whatever is taken back, withdrawn, put back and forked, it is what the events add up to", run: standsAnyhow},
		{name: "the first and last words are without wrappers after a rewind, too", run: wordsUnwrapped},
		{name: "what was taken back is found only where it is asked for, and marked", run: findsLiveMessages},
		{name: "what stands only in forks is found, once, in the first of them", run: findsInForks},
	}
}

func rewound(to skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindRewound, noon, skein.Rewound{To: to})
}

func withdraw(seq skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: seq, Withdrawn: true})
}

func amend(seq skein.Seq, now skein.Event) skein.Event {
	return skein.NewEvent(skein.KindAmended, noon, skein.Amended{Seq: seq, Payload: now.Payload})
}

// wantStands checks the counts of session id, and its first and last prompt.
func (t *test) wantStands(id skein.SessionID, messages, turns int, first, last string) {
	t.Helper()
	s := t.session(id)
	got := fmt.Sprintf("%d messages in %d turns, from %q to %q", s.Messages, s.Turns, s.First, s.LastPrompt)
	if want := fmt.Sprintf("%d messages in %d turns, from %q to %q", messages, turns, first, last); got != want {
		t.Errorf("session %s has %s, want %s", id, got, want)
	}
	t.wantFolded(id)
}

func takenBack(t *test) {
	t.add("a", created(), user("one"), answered("1"), user("two"), answered("2"), user("three"))
	t.wantStands("a", 5, 3, "one", "three")
	t.add("a", rewound(3))
	t.wantStands("a", 2, 1, "one", "one")
	t.add("a", user("other"), answered("o"))
	t.wantStands("a", 4, 2, "one", "other")
	if es, err := t.s.Newest(t.Context(), "a", 1, 0); err != nil || len(es) != 1 || es[0].Turn != 4 {
		t.Errorf("Newest = %+v, %v, want a message of turn 4: turns keep their numbers", es, err)
	}
	t.add("a", rewound(6)) // a redo
	t.wantStands("a", 5, 3, "one", "three")
	t.add("a", rewound(0))
	t.wantStands("a", 0, 0, "", "")
	t.add("a", user("anew"))
	t.wantStands("a", 1, 1, "anew", "anew")
}

func withdrawn(t *test) {
	t.add("a", created(), user("one"), answered("1"), user("two"), answered("2"), piece("p", "x"), piece("p", "y"))
	t.add("a", withdraw(4), withdraw(5))
	t.wantStands("a", 3, 1, "one", "one")
	t.add("a", withdraw(6))
	t.wantStands("a", 3, 1, "one", "one")
	t.add("a", withdraw(7))
	t.wantStands("a", 2, 1, "one", "one")
	t.add("a", withdraw(7))
	t.wantStands("a", 2, 1, "one", "one")
	t.add("a", amend(4, user("two again")))
	t.wantStands("a", 3, 2, "one", "two again")
	t.add("a", piece("p", "z"))
	t.wantStands("a", 4, 2, "one", "two again")
	t.add("a", rewound(3))
	t.wantStands("a", 2, 1, "one", "one")
	t.add("a", withdraw(3))
	t.wantStands("a", 1, 1, "one", "one")
}

func wordsOfLiveTurns(t *test) {
	t.add("a", created(), user("one"), answered("1"), user(""), user("three"))
	t.add("a", withdraw(2))
	t.wantStands("a", 3, 2, "three", "three")
	t.add("a", amend(5, user("third")))
	t.wantStands("a", 3, 2, "third", "third")
	t.add("a", withdraw(5))
	t.wantStands("a", 2, 1, "", "")
	t.add("a", amend(4, user("second")))
	t.wantStands("a", 2, 1, "second", "second")
}

func forkStands(t *test) {
	t.add("a", created(), user("one"), answered("1"), user("two"), answered("2"))
	t.add("before", fork("a", 5))
	t.add("a", rewound(3), user("else"), withdraw(2))
	t.add("after", fork("a", 7), user("own"))
	t.add("ever", fork("a", 8))
	t.add("of", fork("before", 6), rewound(4), user("new"))
	t.wantStands("a", 2, 1, "else", "else")
	t.wantStands("before", 4, 2, "one", "two")
	t.wantStands("after", 4, 3, "one", "own")
	t.wantStands("ever", 2, 1, "else", "else")
	t.wantStands("of", 4, 3, "one", "new")
	t.delete("a")
	t.add("before", rewound(1), user("x"))
	t.wantStands("before", 1, 1, "x", "x")
	t.add("after", rewound(5))
	t.wantStands("after", 4, 2, "one", "two")
}

func brokeTenTimes(t *test) {
	t.add("a", created(), user("one"))
	for i := range 10 {
		broken := skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Interrupted: true, Parts: []skein.Part{skein.TextPart(fmt.Sprint("part", i))}})
		t.add("a", broken, rewound(2))
	}
	t.add("a", answered("whole"))
	t.wantStands("a", 2, 1, "one", "one")
}

func saidAgain(t *test) {
	t.add("a", created(), user("one"), piece("p", "first"), piece("p", "more"), rewound(2))
	t.wantStands("a", 1, 1, "one", "one")
	t.add("a", piece("p", "second"))
	t.wantStands("a", 2, 1, "one", "one")
	t.add("a", piece("p", "and on"))
	t.wantStands("a", 2, 1, "one", "one")
	es, err := t.s.Newest(t.Context(), "a", 5, 0)
	if err != nil || len(es) != 3 || !es[1].Rewound || es[2].Rewound || es[2].Message.Words() != "second\n\nand on" {
		t.Errorf("Newest = %+v, %v, want what was taken back, marked, and what was said again", es, err)
	}
	t.add("a", rewound(4))
	t.wantStands("a", 2, 1, "one", "one")
}

func standsInBatch(t *test) {
	t.add("a", created(), user("one"), answered("1"), rewound(1), user("two"), piece("p", "x"), withdraw(6), piece("p", "y"), user("three"), rewound(8))
	t.wantStands("a", 2, 1, "two", "two")
}

// seeds is how many different sequences standsAnyhow tries.
const seeds = 3

// standsAnyhow performs random operations in a reproducible order.
func standsAnyhow(t *test) {
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 1))
		id := skein.SessionID(fmt.Sprintf("s%d", seed))
		first := created()
		for n := range 3 {
			last := t.add(id, first)
			base := last - 1
			for range 8 {
				var batch []skein.Event
				for range 1 + r.IntN(6) {
					batch = append(batch, someChange(r, base, last+skein.Seq(len(batch))))
				}
				last = t.add(id, batch...)
				got := t.session(id)
				want, err := fold(id, t.events(id))
				t.noErr("fold", err)
				want.Revision = got.Revision
				equal(t, fmt.Sprintf("Session(%s)", id), got, want)
			}
			if t.Failed() {
				return
			}
			parent := id
			id = skein.SessionID(fmt.Sprintf("s%d-%d", seed, n))
			first = fork(parent, last-skein.Seq(r.IntN(int(last)/2)))
			if r.IntN(2) == 0 {
				first = fork(parent, last)
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
		return user(fmt.Sprint("prompt ", r.IntN(100)))
	case 2:
		return user("")
	case 3:
		return answered("an answer")
	case 4, 5:
		return piece(fmt.Sprint("m", r.IntN(3)), "a piece")
	case 6:
		e := skein.UserSays(fmt.Sprint("piece of a prompt ", r.IntN(100)))
		e.ID = fmt.Sprint("u", r.IntN(2))
		return skein.Say(noon, e)
	case 7, 8:
		return withdraw(own)
	case 9:
		return amend(own, user(fmt.Sprint("amended ", r.IntN(100))))
	case 10:
		return rewound(last - skein.Seq(r.Int64N(int64(min(last, 8)))))
	}
	return rewound(skein.Seq(r.Int64N(int64(last) + 1)))
}

func wordsUnwrapped(t *test) {
	t.add("a", created(), user("<system-reminder>be kind</system-reminder>"), user("<system-reminder>be kind</system-reminder>one"), answered("1"), user("two"))
	t.wantStands("a", 4, 3, "one", "two")
	t.add("a", rewound(4))
	t.wantStands("a", 3, 2, "one", "one")
	t.add("a", withdraw(3))
	t.wantStands("a", 2, 1, "", "")
}

func findsLiveMessages(t *test) {
	t.add("a", created(), user("needle one"), user("needle two"), user("needle three"), amend(3, user("needle amended")))
	t.add("f", fork("a", 4), user("needle own"))
	t.add("a", titled("needle title"), rewound(2))
	t.wantHits("needle", []lookedUp{
		{"", false, "[a/2 a/6 f/3 f/4 f/6]"},
		{"", true, "[a/2 a/3! a/6 f/3 f/4 f/6]"},
		{"a", false, "[a/2 a/6]"},
		{"a", true, "[a/2 a/3! a/4! a/6]"},
		{"f", false, "[f/2 f/3 f/4 f/6]"},
		{"f", true, "[f/2 f/3 f/4 f/6]"},
	})
	t.add("f", rewound(2))
	t.wantHits("needle", []lookedUp{{"", false, "[a/2 a/6]"}, {"", true, "[a/2 a/3! a/4! a/6 f/3! f/6!]"}})
}

func findsInForks(t *test) {
	t.add("a", created(), user("needle one"), user("needle two"), user("needle three"), user("needle four"))
	t.add("short", fork("a", 3))
	t.add("g", fork("a", 5))
	t.add("of", fork("g", 5))
	t.add("a", amend(2, user("needle amended")), withdraw(3), rewound(3))
	t.wantHits("needle", []lookedUp{{"", false, "[a/2 g/4 g/5 short/2 short/3]"}, {"of", false, "[of/2 of/3 of/4 of/5]"}})
	t.add("g", rewound(3))
	t.wantHits("needle", []lookedUp{{"", false, "[a/2 of/4 of/5 short/2 short/3]"}})
	t.bin("short")
	t.wantHits("needle", []lookedUp{{"", false, "[a/2 g/2 g/3 of/4 of/5]"}})
	t.bin("a")
	t.wantHits("needle", []lookedUp{{"", false, "[g/2 g/3 of/4 of/5]"}, {"", true, "[g/2 g/3 of/4 of/5]"}, {"a", true, "[]"}})
	t.bin("of")
	t.wantHits("needle", []lookedUp{{"", false, "[g/2 g/3]"}, {"", true, "[g/2 g/3 g/4! g/5!]"}})
	q := skein.Query{Terms: []skein.Term{{Words: []string{"needle"}}}, Deadline: patience}
	if r, err := t.s.Search(t.Context(), q); err != nil || len(r.Hits) != 1 || r.Hits[0].Session != "g" || r.Hits[0].Count != 2 {
		t.Errorf("Search(%+v) = %+v, %v, want one hit in g, which counts 2", q, r, err)
	}
	t.delete("a")
	t.wantHits("needle", []lookedUp{{"", false, "[g/2 g/3]"}, {"", true, "[g/2 g/3 g/4! g/5!]"}})
}

// A lookedUp is the expected result of a search, everywhere or in one session:
// SESSION/SEQ of each hit in order, with ! after rewound ones.
type lookedUp struct {
	in      skein.SessionID
	rewound bool
	want    string
}

// wantHits checks the results of all ways to search for a word.
func (t *test) wantHits(word string, all []lookedUp) {
	t.Helper()
	for _, q := range []skein.Query{{Terms: []skein.Term{{Words: []string{word}}}}, {Substring: word[1:]}, {Regex: word[:1] + "." + word[2:]}} {
		q.Each, q.Deadline = true, patience
		for _, c := range all {
			q.Session, q.Rewound = c.in, c.rewound
			r, err := t.s.Search(t.Context(), q)
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
