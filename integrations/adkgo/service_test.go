package adkgo_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"
	"google.golang.org/genai"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/integrations/adkgo"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/sqlite"
)

// stores returns the stores that every test runs on.
func stores() map[string]func(t *testing.T) skein.Store {
	return map[string]func(t *testing.T) skein.Store{
		"memory": func(*testing.T) skein.Store { return memory.New() },
		"sqlite": func(t *testing.T) skein.Store {
			s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		},
	}
}

// each runs a test on each store.
func each(t *testing.T, test func(t *testing.T, store skein.Store, s session.Service)) {
	t.Helper()
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			store := open(t)
			test(t, store, adkgo.New(store))
		})
	}
}

func TestItPassesTheSuiteOfADK(t *testing.T) {
	for name, open := range stores() {
		t.Run(name, func(t *testing.T) {
			sessiontestsuite.RunServiceTests(t, sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}, func(t *testing.T) session.Service {
				return adkgo.New(open(t))
			})
		})
	}
}

const app, user, id = "app", "u/1", "s 1"

func create(t *testing.T, s session.Service, state map[string]any) session.Session {
	t.Helper()
	r, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: id, State: state})
	if err != nil {
		t.Fatal(err)
	}
	return r.Session
}

func get(t *testing.T, s session.Service, more ...func(*session.GetRequest)) session.Session {
	t.Helper()
	r := &session.GetRequest{AppName: app, UserID: user, SessionID: id}
	for _, set := range more {
		set(r)
	}
	got, err := s.Get(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return got.Session
}

var at = time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)

func say(eventID, text string) *session.Event {
	return &session.Event{ID: eventID, Author: "user", InvocationID: "i", Timestamp: at, LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleUser)}}
}

func mustAppend(t *testing.T, s session.Service, to session.Session, evs ...*session.Event) {
	t.Helper()
	for _, e := range evs {
		if err := s.AppendEvent(t.Context(), to, e); err != nil {
			t.Fatalf("append %s: %v", e.ID, err)
		}
	}
}

func ids(s session.Session) (all []string) {
	for e := range s.Events().All() {
		all = append(all, e.ID)
	}
	return all
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func refused(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want one that wraps %q", what, err, want)
	}
}

func TestEventsOfOneTimeKeepTheirOrder(t *testing.T) {
	each(t, func(t *testing.T, _ skein.Store, s session.Service) {
		held := create(t, s, nil)
		var order []string
		for i := range 40 {
			e := say(fmt.Sprintf("e%02d", (i*7)%40), "x") // not in the order of their IDs
			e.Timestamp = at.Add(-time.Duration(i/10) * time.Hour)
			mustAppend(t, s, held, e)
			order = append(order, e.ID)
		}
		want(t, "events", ids(get(t, s)), order)
		want(t, "the newest 3", ids(get(t, s, func(r *session.GetRequest) { r.NumRecentEvents = 3 })), order[37:])
		want(t, "at that time or later", ids(get(t, s, func(r *session.GetRequest) { r.After = at.Add(-time.Hour) })), order[:20])
		want(t, "the newest of those", ids(get(t, s, func(r *session.GetRequest) { r.After, r.NumRecentEvents = at.Add(-time.Hour), 2 })), order[18:20])
	})
}

func TestOfTwoWritersTheStaleOneIsRefused(t *testing.T) {
	each(t, func(t *testing.T, store skein.Store, s session.Service) {
		create(t, s, nil)
		a, b := get(t, s), get(t, s)
		mustAppend(t, s, a, say("a1", "first"))
		err := s.AppendEvent(t.Context(), b, say("b1", "second"))
		refused(t, "append of a stale writer", err, skein.ErrConflict)
		want(t, "events of the stale session", b.Events().Len(), 0)
		b = get(t, s)
		mustAppend(t, s, b, say("b2", "second"))
		want(t, "events", ids(get(t, s)), []string{"a1", "b2"})

		found := one(t, store)
		if _, err := skein.Add(t.Context(), store, found.ID, skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: "renamed", By: skein.ByPerson})); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, s, b, say("b3", "a new title is no matter"))
	})
}

// one returns the only ADK session.
func one(t *testing.T, store skein.Store) (found skein.Session) {
	t.Helper()
	for s, err := range store.Sessions(t.Context(), skein.Filter{Agent: app, IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		found = s
	}
	return found
}

func TestManyWritersStoreEachEventOnce(t *testing.T) {
	each(t, func(t *testing.T, _ skein.Store, s session.Service) {
		create(t, s, nil)
		var all sync.WaitGroup
		for w := range 4 {
			all.Go(func() {
				for i := range 10 {
					e := say(fmt.Sprintf("%d-%d", w, i), "x")
					e.Actions.StateDelta = map[string]any{"app:n" + e.ID: true}
					for {
						r, err := s.Get(t.Context(), &session.GetRequest{AppName: app, UserID: user, SessionID: id})
						if err == nil {
							err = s.AppendEvent(t.Context(), r.Session, e)
						}
						if err == nil {
							break
						}
						if !errors.Is(err, skein.ErrConflict) {
							t.Errorf("writer %d: %v", w, err)
							return
						}
					}
				}
			})
		}
		all.Wait()
		got := get(t, s)
		seen, set := map[string]bool{}, 0
		for _, e := range ids(got) {
			seen[e] = true
		}
		for range got.State().All() {
			set++
		}
		want(t, "events, of them different, names in the state", []int{got.Events().Len(), len(seen), set}, []int{40, 40, 40})
	})
}

func TestARepeatedEventIsStoredOnce(t *testing.T) {
	each(t, func(t *testing.T, _ skein.Store, s session.Service) {
		held := create(t, s, map[string]any{"app:k": "0"})
		stale := get(t, s)
		e := say("e1", "once")
		e.Actions.StateDelta = map[string]any{"app:k": "1", "own": "1"}
		mustAppend(t, s, held, e, e)
		mustAppend(t, s, stale, e)
		later := say("e2", "later")
		later.Actions.StateDelta = map[string]any{"app:k": "2", "own": "2"}
		mustAppend(t, s, held, later, e)
		want(t, "events", ids(get(t, s)), []string{"e1", "e2"})
		want(t, "events of the writer", ids(held), []string{"e1", "e2"})
		for _, name := range []string{"app:k", "own"} {
			if v, _ := get(t, s).State().Get(name); v != "2" {
				t.Errorf("%s after a repeat of an older event: %v, want 2", name, v)
			}
		}
		refused(t, "the same ID with other content", s.AppendEvent(t.Context(), held, say("e1", "other")), skein.ErrMismatch)
	})
}

func TestADeletedSessionCanBeMadeAgain(t *testing.T) {
	each(t, func(t *testing.T, store skein.Store, s session.Service) {
		old := create(t, s, map[string]any{"own": "old", "user:k": "kept"})
		mustAppend(t, s, old, say("e1", "old"))
		first := one(t, store)
		if err := s.Delete(t.Context(), &session.DeleteRequest{AppName: app, UserID: user, SessionID: id}); err != nil {
			t.Fatal(err)
		}
		refused(t, "append to a deleted session", s.AppendEvent(t.Context(), old, say("e2", "late")), skein.ErrNotFound)
		made := create(t, s, nil)
		refused(t, "append with the session of before", s.AppendEvent(t.Context(), old, say("e2", "late")), skein.ErrConflict)
		mustAppend(t, s, made, say("e1", "new"))
		got := get(t, s)
		want(t, "events", ids(got), []string{"e1"})
		want(t, "what was said", got.Events().At(0).Content.Parts[0].Text, "new")
		if _, err := got.State().Get("own"); !errors.Is(err, session.ErrStateKeyNotExist) {
			t.Errorf("state of the session before: %v", err)
		}
		if v, _ := got.State().Get("user:k"); v != "kept" {
			t.Errorf("state of the user: %v, want kept", v)
		}
		if binned, err := store.Session(t.Context(), first.ID); err != nil || binned.Binned == 0 {
			t.Errorf("the deleted session: %v, %v; want it in the bin", binned, err)
		}
		_, err := s.Create(t.Context(), &session.CreateRequest{AppName: app, UserID: user, SessionID: id})
		refused(t, "create what there is", err, skein.ErrExists)
	})
}

func TestNamesDoNotRunIntoEachOther(t *testing.T) {
	each(t, func(t *testing.T, _ skein.Store, s session.Service) {
		long := string(make([]byte, 200))
		names := [][3]string{{"a", "b", "c/d"}, {"a", "b/c", "d"}, {"a/b", "c", "d"}, {"a", "b", "ü\n"}, {"a", "b", long}, {"a", long, "b"}, {"%", "2F", "/"}}
		for _, n := range names {
			if _, err := s.Create(t.Context(), &session.CreateRequest{AppName: n[0], UserID: n[1], SessionID: n[2], State: map[string]any{"user:is": n[1] + n[0]}}); err != nil {
				t.Fatalf("create %q: %v", n, err)
			}
		}
		for _, n := range names {
			r, err := s.Get(t.Context(), &session.GetRequest{AppName: n[0], UserID: n[1], SessionID: n[2]})
			if err != nil {
				t.Fatalf("get %q: %v", n, err)
			}
			is, _ := r.Session.State().Get("user:is")
			want(t, "names and state", []any{r.Session.AppName(), r.Session.UserID(), r.Session.ID(), is}, []any{n[0], n[1], n[2], n[1] + n[0]})
		}
		r, err := s.List(t.Context(), &session.ListRequest{AppName: "a", UserID: "b"})
		if err != nil || len(r.Sessions) != 3 {
			t.Errorf("list a, b: %d sessions, %v; want 3", len(r.Sessions), err)
		}
	})
}

func TestSharedStateIsWhatWasSetLast(t *testing.T) {
	each(t, func(t *testing.T, _ skein.Store, s session.Service) {
		held := create(t, s, map[string]any{"app:first": "kept"})
		for i := range 200 {
			e := say(fmt.Sprint("e", i), "x")
			e.Actions.StateDelta = map[string]any{fmt.Sprint("app:k", i%5): i}
			mustAppend(t, s, held, e)
		}
		got := map[string]any{}
		for name, value := range get(t, s).State().All() {
			got[name] = value
		}
		want(t, "state", got, map[string]any{"app:first": "kept", "app:k0": 195.0, "app:k1": 196.0, "app:k2": 197.0, "app:k3": 198.0, "app:k4": 199.0})
	})
}
