package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite"
)

// long appends a session of n messages in batches.
func long(t *testing.T, s skein.Store, id skein.SessionID, n int) {
	t.Helper()
	add(t, s, id, created())
	for n > 0 {
		var evs []skein.Event
		for range min(n, 500) {
			evs = append(evs, user(fmt.Sprintf("word%d of %s", n, id)))
			n--
		}
		add(t, s, id, evs...)
	}
}

// A long session is deleted in steps: forks show the same after each of them,
// and if the deletion is interrupted, the next start continues it.
func TestLongSessionsAreDeletedInSteps(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	long(t, s, "p", 1500)
	add(t, s, "f", fork("p", 900), user("f"))
	add(t, s, "g", fork("p", 300), user("g"))
	add(t, s, "h", fork("f", 901), user("h"))
	want := map[skein.SessionID]string{}
	for _, id := range []skein.SessionID{"f", "g", "h"} {
		want[id] = fmt.Sprint(events(t, s, id))
	}
	find(t, s, "word1", 1)

	// The caller's context interrupts it after the first step.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e := range s.Watch(t.Context(), "p", 1500) {
			_ = e
		}
		cancel()
	}()
	d, err := s.Delete(ctx, "p", skein.Deletion{})
	if err != nil || d.Events != 601 || len(d.Moved) != 1 || d.Moved[0] != "f" {
		t.Errorf("Delete(p) = %+v, %v, want 601 events destroyed and the others moved to f", d, err)
	}
	<-done
	check := func(when string) {
		t.Helper()
		for id, want := range want {
			if got := fmt.Sprint(events(t, s, id)); got != want {
				t.Errorf("%s, the events of %s have changed", when, id)
			}
		}
		if _, err := s.Session(t.Context(), "p"); !errors.Is(err, skein.ErrNotFound) {
			t.Errorf("%s, Session(p) = %v, want %v", when, err, skein.ErrNotFound)
		}
	}
	check("right after")
	shut(t, s)
	s = open(t, name)
	check("opened again")
	wait(t, "nothing is left of the session", func() bool {
		return shell(t, name, "SELECT (SELECT count(*) FROM purge_queue) + (SELECT count(*) FROM maintenance);") == "0"
	})
	check("in the end")
	if got := shell(t, name, "SELECT count(*) FROM events;"); got != "906" {
		t.Errorf("%s events are left, want the 900 that f shows and two of each fork", got)
	}
	find(t, s, "word1", 0)
	find(t, s, "word1400", 1)
}

// A short-lived program has no time for maintenance: Close does it.
func TestClosingEndsADeletionThatWasBrokenOff(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.db")
	s := open(t, name)
	long(t, s, "p", 1500)
	add(t, s, "f", fork("p", 900), user("f"))
	shut(t, s)
	// This is the state after a process was killed after the first step of a
	// deletion.
	shell(t, name, "INSERT INTO purge_queue (session, new_parent) SELECT 1, n FROM sessions WHERE id = 'f'; DELETE FROM sessions WHERE id = 'p';")
	s = open(t, name)
	sqlite.CloseFor(s, 10*time.Minute) // the machine may be busy
	shut(t, s)
	if got := shell(t, name, "SELECT count(*) FROM purge_queue; SELECT count(*) FROM events; PRAGMA freelist_count;"); got != "0\n902\n0" {
		t.Errorf("purge_queue sessions, events and free pages after Close: %q, want 0, 902 and 0", got)
	}
	s = open(t, name)
	find(t, s, "word1400", 1)
}

// Once maintenance is done, deleted text is in none of the files.
func TestDeletedTextIsGoneFromTheFiles(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.db")
	s := open(t, name)
	for i := range 30 {
		id := skein.SessionID(fmt.Sprint("s", i))
		add(t, s, id, created(), user(fmt.Sprintf("keepsake number %d", i)))
	}
	add(t, s, "a", created(), user("the xyzzyplugh secret"), user(strings.Repeat("xyzzyplugh ", 3000)))
	find(t, s, "xyzzyplugh", 2)
	if _, err := s.Delete(t.Context(), "a", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	s = open(t, name)
	wait(t, "the maintenance is done", func() bool { return shell(t, name, "SELECT count(*) FROM maintenance;") == "0" })
	shut(t, s)
	for n, b := range snapshot(t, dir) {
		if strings.Contains(b, "xyzzy") {
			t.Errorf("file %s still has the deleted text", n)
		}
	}
}

// After a kill in the middle of a deletion, everything that a fork shows is
// still there, even before the deletion is continued.
func TestWhatForksShowOfAHalfDeletedSessionIsTheirs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	paid := skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Request: "r", Model: "m", Usage: &skein.Usage{Output: 5}, Parts: []skein.Part{skein.TextPart("paidword")}})
	imported := user("importedword")
	imported.ClientID = "line-1"
	add(t, s, "p", created(), user("commonword"), paid)
	if _, err := s.Append(t.Context(), skein.Batch{Session: "p", Events: []skein.Event{imported}, Import: &skein.Import{File: skein.SourceFile{Format: "codex", Path: "/p", Session: "p"}}}); err != nil {
		t.Fatal(err)
	}
	add(t, s, "p", user("gonestword"))
	add(t, s, "f", fork("p", 4), user("of f"))
	add(t, s, "g", fork("f", 5), user("of g"))
	find(t, s, "commonword", 1)
	purgeInShell(t, name, "p", "f")
	purgeInShell(t, name, "f", "g") // g is the new parent of both

	find(t, s, "gonestword", 0)
	for _, word := range []string{"commonword", "paidword", "comm*"} {
		r := wantHit(t, s, skein.Query{}, word)
		if r.Session != "g" {
			t.Errorf("Search(%s) finds it in %s, want g", word, r.Session)
		}
		wantHit(t, s, skein.Query{Session: "g"}, word)
	}
	if r, err := s.Search(t.Context(), skein.Query{Substring: "ommonwo"}); err != nil || len(r.Hits) != 1 || r.Hits[0].Session != "g" {
		t.Errorf("Search for a part of a word = %+v, %v, want one hit in g", r.Hits, err)
	}
	if at, err := s.Find(t.Context(), []skein.ClientID{"line-1"}); err != nil || at["line-1"] != (skein.Place{Session: "g", Seq: 4}) {
		t.Errorf("Find(line-1) = %v, %v, want event 4 of g", at, err)
	}
	for _, by := range []skein.Dimension{skein.BySession, skein.ByModelID} {
		rows, err := s.Usage(t.Context(), skein.UsageQuery{By: by})
		if err != nil || len(rows) != 1 || rows[0].Usage.Output != 5 {
			t.Errorf("Usage by %s = %+v, %v, want the 5 tokens that g shows", by, rows, err)
		}
	}
	add(t, s, "h", fork("g", 2), user("of h"))
	want := map[skein.SessionID]string{"g": fmt.Sprint(events(t, s, "g")), "h": fmt.Sprint(events(t, s, "h"))}
	shut(t, s) // continues the deletion
	s = open(t, name)
	for id, want := range want {
		if got := fmt.Sprint(events(t, s, id)); got != want {
			t.Errorf("after the deletion the events of %s are\n%s\nwant\n%s", id, got, want)
		}
	}
	if got := shell(t, name, "SELECT count(*) FROM purge_queue;"); got != "0" {
		t.Errorf("%s sessions are still being deleted", got)
	}
	if r := wantHit(t, s, skein.Query{}, "commonword"); r.Session != "g" {
		t.Errorf("after the deletion Search finds it in %s, want g", r.Session)
	}
}

// purgeInShell leaves the state of a process that was killed after the first
// step of deleting a session; newParent is the new parent.
func purgeInShell(t *testing.T, name string, id, newParent skein.SessionID) {
	t.Helper()
	shell(t, name, fmt.Sprintf(`INSERT INTO purge_queue (session, new_parent) SELECT s.n, h.n FROM sessions s, sessions h WHERE s.id = '%[1]s' AND h.id = '%[2]s';
		UPDATE bases SET base = (SELECT n FROM sessions WHERE id = '%[2]s') WHERE base = (SELECT n FROM sessions WHERE id = '%[1]s') AND session <> (SELECT n FROM sessions WHERE id = '%[2]s');
		DELETE FROM sessions WHERE id = '%[1]s';`, id, newParent))
}

// wantHit checks that words are found exactly once.
func wantHit(t *testing.T, s skein.Store, q skein.Query, words string) skein.Hit {
	t.Helper()
	terms, err := search.Parse(words)
	if err != nil {
		t.Fatal(err)
	}
	q.Terms, q.Deadline = terms.Terms, 60e9
	r, err := s.Search(t.Context(), q)
	if err != nil || len(r.Hits) != 1 {
		t.Errorf("Search(%s) in %q = %+v, %v, want one hit", words, q.Session, r.Hits, err)
		return skein.Hit{}
	}
	return r.Hits[0]
}
