package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
	"github.com/skein-dev/skein/store/postgres"
)

// open opens the store at an address until the test ends.
func open(t testing.TB, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(context.Background(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
	})
	return s
}

// add appends events, which must succeed, and returns the seq of the last.
func add(t testing.TB, s skein.Store, id skein.SessionID, evs ...skein.Event) skein.Seq {
	t.Helper()
	last, err := skein.Add(context.Background(), s, id, evs...)
	if err != nil {
		t.Fatalf("Append(%s, %d events) = %v", id, len(evs), err)
	}
	return last
}

func created() skein.Event { return skein.NewEvent(skein.KindCreated, noon, skein.Created{}) }

func said(text string) skein.Event { return skein.Say(noon, skein.UserSays(text)) }

func fork(id skein.SessionID, seq skein.Seq) skein.Event {
	return skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: id, Seq: seq, Why: skein.Fork}})
}

func TestTheUsualAppendLooksForNothingFirst(t *testing.T) {
	s := open(t, pgtest.DSN(t))
	v := s.As("ann")
	add(t, v, "a", created())
	add(t, v, "f", created(), said("x"))
	add(t, v, "g", fork("f", 2))
	before, _ := postgres.Slow(s)
	for i := range 20 {
		m := skein.Message{
			ID: fmt.Sprint("m", i), Role: skein.RoleAssistant, Request: fmt.Sprint("r", i), Model: "m", Usage: &skein.Usage{Input: 1, Output: 2},
			Parts: []skein.Part{skein.TextPart("yes")},
		}
		e := skein.Say(noon, m)
		e.ClientID = skein.ClientID(fmt.Sprint("c", i))
		add(t, v, "a", e, said("go on"), skein.NewEvent(skein.KindTitled, noon, skein.Titled{Title: "t", By: skein.ByModel}))
		m.ID, m.Request = m.ID+"f", m.Request+"f"
		inFork := skein.Say(noon, m)
		inFork.ClientID = e.ClientID + "f"
		add(t, v, "g", inFork)
	}
	if slow, again := postgres.Slow(s); slow != before || again != 0 {
		t.Errorf("%d of 40 appends looked first, %d were tried again, want 0, 0", slow-before, again)
	}
	e := said("x")
	if e.ClientID = "in the parent"; add(t, v, "f", e) != 3 {
		t.Fatal("the session f does not end at 3")
	}
	add(t, v, "h", fork("f", 3), said("y"))
	if last := add(t, v, "h", e); last != 5 {
		t.Errorf("Append to a fork of what its parent has = %d, want 5, where it ends", last)
	}
	x, err := v.Session(t.Context(), "a")
	if err != nil || x.Messages != 40 || x.Usage.Requests != 20 || x.Last != 61 {
		t.Errorf("Session(a) = %+v, %v, want 40 messages, 20 requests, 61 events", x, err)
	}
}

func TestTwoNodesThatWriteToOneSessionDoNotSpin(t *testing.T) {
	dsn := pgtest.DSN(t)
	stores := []*postgres.Store{open(t, dsn), open(t, dsn)}
	add(t, stores[0], "a", created())
	const writers, each = 8, 25
	var wg sync.WaitGroup
	for w := range writers {
		s := stores[w%len(stores)]
		wg.Go(func() {
			for i := range each {
				if _, err := skein.Add(context.Background(), s, "a", said(fmt.Sprint(w, i))); err != nil {
					t.Errorf("Append(%d %d) = %v", w, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	x, err := stores[0].Session(t.Context(), "a")
	if err != nil || x.Last != writers*each+1 {
		t.Errorf("Session(a) ends at %d, %v, want %d", x.Last, err, writers*each+1)
	}
	for i, s := range stores {
		if slow, again := postgres.Slow(s); again > writers*each*4 {
			t.Errorf("node %d: %d appends looked first, %d tries of them, want at most %d", i, slow, again, writers*each*4)
		}
	}
}

func TestNamesThatNoIndexHolds(t *testing.T) {
	s := open(t, pgtest.DSN(t))
	long := strings.Repeat("a long name with many different letters: ", 400)
	for i := range 3000 {
		long += fmt.Sprint(i)
	}
	add(t, s, "a", skein.NewEvent(skein.KindCreated, noon, skein.Created{Project: "/" + long, Agent: long, Model: long, Title: long, Surface: long, Profile: long}))
	m := skein.Message{ID: long, Role: skein.RoleAssistant, Request: long, Model: long, Provider: long, Usage: &skein.Usage{Input: 1}, Parts: []skein.Part{skein.TextPart("yes")}}
	add(t, s, "a", skein.Say(noon, m))
	add(t, s, "a", skein.Say(noon, m), skein.Event{Kind: "future\x00\x01kind", Payload: []byte(`{"z": "\u0000"}`)})
	x, err := s.Session(t.Context(), "a")
	if err != nil || x.Messages != 1 || x.Usage.Requests != 1 || x.Project != "/"+long {
		t.Errorf("Session(a) has %d messages, %d requests, %v, want 1, 1: the same message ID and request", x.Messages, x.Usage.Requests, err)
	}
	last := skein.Event{}
	for e, err := range s.Events(t.Context(), "a", 3) {
		if last = e; err != nil {
			t.Fatal(err)
		}
	}
	if last.Kind != "future\x00\x01kind" || string(last.Payload) != `{"z": "\u0000"}` {
		t.Errorf("Events(a, 3) yields %q %q", last.Kind, last.Payload)
	}
}

func TestAForkAndItsParentCanBeginInOneCall(t *testing.T) {
	s := open(t, pgtest.DSN(t))
	rs, err := s.Append(t.Context(),
		skein.Batch{Session: "a", Events: []skein.Event{created(), said("one"), said("two")}},
		skein.Batch{Session: "f", Events: []skein.Event{fork("a", 2), said("other")}},
		skein.Batch{Session: "a", Events: []skein.Event{said("three")}},
	)
	if err != nil || rs[1].Last != 4 || rs[2].Last != 4 {
		t.Fatalf("Append = %+v, %v, want ends at 3, 4 and 4", rs, err)
	}
	x, err := s.Session(t.Context(), "f")
	if err != nil || x.Messages != 2 || x.First != "one" || x.LastPrompt != "other" {
		t.Errorf("Session(f) = %+v, %v, want the messages one and other", x, err)
	}
}

func TestADatabaseMayPreferAnotherIsolation(t *testing.T) {
	dsn := pgtest.DSN(t)
	name, _, _ := strings.Cut(dsn[strings.LastIndex(dsn, "/")+1:], "?")
	pgtest.Exec(t, dsn, `ALTER DATABASE `+name+` SET default_transaction_isolation = 'serializable'`, `ALTER DATABASE `+name+` SET synchronous_commit = off`)
	s := open(t, dsn)
	add(t, s, "a", created())
	var wg sync.WaitGroup
	for w := range 4 {
		id := skein.SessionID(fmt.Sprint("s", w))
		add(t, s, id, created())
		wg.Go(func() {
			for i := range 10 {
				m := skein.Message{Role: skein.RoleAssistant, Request: fmt.Sprint("r", i), Usage: &skein.Usage{Input: 1}, Parts: []skein.Part{skein.TextPart("yes")}}
				if _, err := skein.Add(context.Background(), s, id, skein.Say(noon, m)); err != nil {
					t.Errorf("Append(%s, r%d) = %v", id, i, err)
				}
			}
		})
	}
	wg.Wait()
	rows, err := s.Usage(t.Context(), skein.UsageQuery{By: skein.ByModelID})
	if err != nil || len(rows) != 1 || rows[0].Usage.Requests != 10 {
		t.Errorf("Usage() = %+v, %v, want 10 requests", rows, err)
	}
}

func TestWhatAnotherUserTriesChangesNothing(t *testing.T) {
	s := open(t, pgtest.DSN(t))
	ann, bob := s.As("ann"), s.As("bob")
	add(t, ann, "a", created(), said("one"), said("two"))
	if err := s.Bin(t.Context(), "a"); err != nil { // its head is no longer cached
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := skein.Add(context.Background(), bob, "a", said("x")); !errors.Is(err, skein.ErrNotFound) {
				t.Errorf("Append of bob = %v, want an error that wraps %v", err, skein.ErrNotFound)
			}
		})
	}
	wg.Wait()
	add(t, ann, "a", said("three"))
	if x, err := ann.Session(t.Context(), "a"); err != nil || x.Messages != 3 || x.First != "one" {
		t.Errorf("Session(a) = %+v, %v, want three messages", x, err)
	}
}

func TestARequestThatTwoNodesChargeAtOnceIsCountedOnce(t *testing.T) {
	dsn := pgtest.DSN(t)
	stores := []*postgres.Store{open(t, dsn), open(t, dsn)}
	const sessions, requests = 8, 40
	for i := range sessions {
		add(t, stores[i%2], skein.SessionID(fmt.Sprint("s", i)), created(), said("x"))
	}
	for r := range requests {
		m := skein.Message{Role: skein.RoleAssistant, Request: fmt.Sprint("r", r), Usage: &skein.Usage{Input: 1}, Parts: []skein.Part{skein.TextPart("yes")}}
		var wg sync.WaitGroup
		for i := range sessions {
			wg.Go(func() {
				if _, err := skein.Add(context.Background(), stores[i%2], skein.SessionID(fmt.Sprint("s", i)), skein.Say(noon, m)); err != nil {
					t.Errorf("Append = %v", err)
				}
			})
		}
		wg.Wait()
	}
	rows, err := stores[0].Usage(t.Context(), skein.UsageQuery{By: skein.ByModelID})
	if err != nil || len(rows) != 1 || rows[0].Usage.Requests != requests {
		t.Errorf("Usage() = %+v, %v, want %d requests", rows, err, requests)
	}
}
