package appends

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func processes() []harness.Check {
	return []harness.Check{
		{Name: "4 processes into one session", Processes: func(t *harness.Test) { sideBySide(t, 4, 50, one) }},
		{Name: "4 processes into a session each", Processes: func(t *harness.Test) { sideBySide(t, 4, 50, each4) }},
		{Name: "3 processes with the same client IDs", Processes: sameIDs},
		{Name: "killed at any moment, nothing that was answered is lost", Processes: killed},
		{Name: "while they write, others read, search and delete", Processes: readBeside},
	}
}

func one(int) skein.SessionID { return "a" }

func each4(w int) skein.SessionID { return skein.SessionID(fmt.Sprint("s", w)) }

// sideBySide has n processes, and this one, append concurrently.
func sideBySide(t *harness.Test, n, count int, into func(int) skein.SessionID) {
	want := map[skein.SessionID]int{}
	for w := range n + 1 {
		if want[into(w)] == 0 {
			t.Add(into(w), fixture.Created())
			want[into(w)] = 1
		}
		want[into(w)] += count
	}
	var ps []*harness.Process
	for w := range n {
		ps = append(ps, t.Start(harness.Job{Do: "append", Session: into(w), Name: fmt.Sprint("p", w), Count: count}))
	}
	for i := range count {
		t.Add(into(n), fixture.ID(fmt.Sprint("own-", i), fixture.User("own")))
	}
	for w, p := range ps {
		last := skein.Seq(0)
		for i := range count {
			r, ok := p.Reply()
			if !ok || r.Error != "" || r.N != i || r.Seq <= last {
				t.Fatalf("process %d answers %+v (%v), want message %d after seq %d", w, r, ok, i, last)
			}
			last = r.Seq
		}
		p.Wait()
	}
	for id, n := range want {
		t.WantEnd(id, skein.Seq(n))
		wantOnce(t, id)
	}
}

// wantOnce checks that a session has each client ID once, and those of one
// writer in order, without gaps. It returns how many messages each writer has.
func wantOnce(t *harness.Test, id skein.SessionID) map[string]int {
	t.Helper()
	next := map[string]int{}
	for _, e := range t.Events(id) {
		if e.ClientID == "" {
			continue
		}
		var name string
		var n int
		for i := range e.ClientID {
			if e.ClientID[i] == '-' {
				name = string(e.ClientID[:i])
				_, _ = fmt.Sscan(string(e.ClientID[i+1:]), &n)
			}
		}
		if n != next[name] {
			t.Fatalf("event %d of %s is %s, want number %d", e.Seq, id, e.ClientID, next[name])
		}
		next[name]++
	}
	return next
}

func sameIDs(t *harness.Test) {
	t.Add("a", fixture.Created())
	var ps []*harness.Process
	for range 3 {
		ps = append(ps, t.Start(harness.Job{Do: "append", Session: "a", Name: "same", Count: 50}))
	}
	for i := range 50 {
		for w, p := range ps {
			r, ok := p.Reply()
			if !ok || r.Error != "" || r.Seq != skein.Seq(i+2) {
				t.Fatalf("process %d answers %+v (%v), want seq %d", w, r, ok, i+2)
			}
		}
	}
	for _, p := range ps {
		p.Wait()
	}
	t.WantEnd("a", 51)
}

// killed kills a writing child at random moments. What it reported as stored
// must be stored; what it did not report may be, in order.
func killed(t *harness.Test) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	t.Add("a", fixture.Created())
	for round := range rounds {
		name := fmt.Sprint("k", round)
		p := t.Start(harness.Job{Do: "append", Session: "a", Name: name})
		answered := 0
		for range rand.N(20) {
			r, ok := p.Reply()
			if !ok || r.Error != "" {
				t.Fatalf("the child answers %+v (%v)", r, ok)
			}
			answered++
		}
		p.KillSoon()
		for {
			r, ok := p.Reply()
			if !ok {
				break
			}
			if r.Error == "" {
				answered++
			}
		}
		p.Kill()
		if stored := wantOnce(t, "a")[name]; stored < answered {
			t.Fatalf("round %d: the killed child was answered %d times, but %d messages are stored", round, answered, stored)
		}
		wantRest(t, "a")
		t.Add("a", fixture.User("after it")) // the store still works
	}
	t.WantFolded("a")
}

// wantRest checks that a session ends where it says. What a killed process sent
// to another one may still be stored for a moment.
func wantRest(t *harness.Test, id skein.SessionID) {
	t.Helper()
	if t.Options.Frees > 0 {
		eventually(t, "the session is at rest", func() bool { return t.Session(id).Last == skein.Seq(len(t.Events(id))) })
		return
	}
	t.WantEnd(id, t.Session(id).Last)
}

func readBeside(t *harness.Test) {
	t.Add("a", fixture.Created())
	t.Add("b", fixture.Created(), fixture.User("needle of b"))
	p := t.Start(harness.Job{Do: "append", Session: "a", Name: "needle", Count: 100})
	for i := range 100 {
		r, ok := p.Reply()
		if !ok || r.Error != "" {
			t.Fatalf("the child answers %+v (%v)", r, ok)
		}
		if last := t.Session("a").Last; last < r.Seq {
			t.Fatalf("the child was answered %d, but the session ends at %d", r.Seq, last)
		}
		if n := len(t.Newest("a", 10, 0)); n < min(10, i+1) {
			t.Fatalf("Newest gives %d messages after %d", n, i+1)
		}
		if i%20 == 0 {
			id := skein.SessionID(fmt.Sprint("gone", i))
			t.Add(id, fixture.Created(), fixture.User("x"))
			t.Delete(id)
			if n := len(t.Search(skein.Query{Session: "a", Substring: fmt.Sprint("needle ", i), Each: true, Limit: 200})); n == 0 {
				t.Errorf("Search does not find message %d", i)
			}
		}
	}
	p.Wait()
	t.WantEnd("a", 101)
}
