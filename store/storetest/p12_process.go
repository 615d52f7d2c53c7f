package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/skein-dev/skein"
)

func processes() []check {
	return []check{
		{name: "4 processes into one session", processes: func(t *test) { sideBySide(t, 4, 50, one) }},
		{name: "4 processes into a session each", processes: func(t *test) { sideBySide(t, 4, 50, each4) }},
		{name: "3 processes with the same client IDs", processes: sameIDs},
		{name: "killed at any moment, nothing that was answered is lost", processes: killed},
		{name: "while they write, others read, search and delete", processes: readBeside},
	}
}

func one(int) skein.SessionID { return "a" }

func each4(w int) skein.SessionID { return skein.SessionID(fmt.Sprint("s", w)) }

// sideBySide has n processes, and this one, append concurrently.
func sideBySide(t *test, n, count int, into func(int) skein.SessionID) {
	want := map[skein.SessionID]int{}
	for w := range n + 1 {
		if want[into(w)] == 0 {
			t.add(into(w), created())
			want[into(w)] = 1
		}
		want[into(w)] += count
	}
	var ps []*process
	for w := range n {
		ps = append(ps, t.start(job{Do: "append", Session: into(w), Name: fmt.Sprint("p", w), Count: count}))
	}
	for i := range count {
		t.add(into(n), id(fmt.Sprint("own-", i), user("own")))
	}
	for w, p := range ps {
		last := skein.Seq(0)
		for i := range count {
			r, ok := p.reply()
			if !ok || r.Error != "" || r.N != i || r.Seq <= last {
				t.Fatalf("process %d answers %+v (%v), want message %d after seq %d", w, r, ok, i, last)
			}
			last = r.Seq
		}
		p.wait()
	}
	for id, n := range want {
		t.wantEnd(id, skein.Seq(n))
		t.wantOnce(id)
	}
}

// wantOnce checks that a session has each client ID once, and those of one
// writer in order, without gaps. It returns how many messages each writer has.
func (t *asker) wantOnce(id skein.SessionID) map[string]int {
	t.Helper()
	next := map[string]int{}
	for _, e := range t.events(id) {
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

func sameIDs(t *test) {
	t.add("a", created())
	var ps []*process
	for range 3 {
		ps = append(ps, t.start(job{Do: "append", Session: "a", Name: "same", Count: 50}))
	}
	for i := range 50 {
		for w, p := range ps {
			r, ok := p.reply()
			if !ok || r.Error != "" || r.Seq != skein.Seq(i+2) {
				t.Fatalf("process %d answers %+v (%v), want seq %d", w, r, ok, i+2)
			}
		}
	}
	for _, p := range ps {
		p.wait()
	}
	t.wantEnd("a", 51)
}

// killed kills a writing child at random moments. What it reported as stored
// must be stored; what it did not report may be, in order.
func killed(t *test) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	t.add("a", created())
	for round := range rounds {
		name := fmt.Sprint("k", round)
		p := t.start(job{Do: "append", Session: "a", Name: name})
		answered := 0
		for range rand.N(20) {
			r, ok := p.reply()
			if !ok || r.Error != "" {
				t.Fatalf("the child answers %+v (%v)", r, ok)
			}
			answered++
		}
		go func() { _ = p.cmd.Process.Kill() }()
		for {
			r, ok := p.reply()
			if !ok {
				break
			}
			if r.Error == "" {
				answered++
			}
		}
		p.kill()
		if stored := t.wantOnce("a")[name]; stored < answered {
			t.Fatalf("round %d: the killed child was answered %d times, but %d messages are stored", round, answered, stored)
		}
		t.wantRest("a")
		t.add("a", user("after it")) // the store still works
	}
	t.wantFolded("a")
}

// wantRest checks that a session ends where it says. What a killed process sent
// to another one may still be stored for a moment.
func (t *test) wantRest(id skein.SessionID) {
	t.Helper()
	if t.options.Frees > 0 {
		t.eventually("the session is at rest", func() bool { return t.session(id).Last == skein.Seq(len(t.events(id))) })
		return
	}
	t.wantEnd(id, t.session(id).Last)
}

func readBeside(t *test) {
	t.add("a", created())
	t.add("b", created(), user("needle of b"))
	p := t.start(job{Do: "append", Session: "a", Name: "needle", Count: 100})
	for i := range 100 {
		r, ok := p.reply()
		if !ok || r.Error != "" {
			t.Fatalf("the child answers %+v (%v)", r, ok)
		}
		if last := t.session("a").Last; last < r.Seq {
			t.Fatalf("the child was answered %d, but the session ends at %d", r.Seq, last)
		}
		if n := len(t.newest("a", 10, 0)); n < min(10, i+1) {
			t.Fatalf("Newest gives %d messages after %d", n, i+1)
		}
		if i%20 == 0 {
			id := skein.SessionID(fmt.Sprint("gone", i))
			t.add(id, created(), user("x"))
			t.delete(id)
			if n := len(t.search(skein.Query{Session: "a", Substring: fmt.Sprint("needle ", i), Each: true, Limit: 200})); n == 0 {
				t.Errorf("Search does not find message %d", i)
			}
		}
	}
	p.wait()
	t.wantEnd("a", 101)
}
