package sqlite

import (
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// addFor appends messages to a session of a user, creating the session if need be.
func addFor(t *testing.T, s *Store, user skein.User, id skein.SessionID, texts ...string) {
	t.Helper()
	b := skein.Batch{Session: id}
	if _, err := s.Session(t.Context(), id); err != nil {
		b.Events = append(b.Events, skein.NewEvent(skein.KindCreated, 1, skein.Created{User: user, Project: "/src/" + string(user)}))
	}
	for _, text := range texts {
		b.Events = append(b.Events, skein.Say(2, skein.UserSays(text)))
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// shared fills a store in which most messages are ann's, all with the word
// loom: before, between and after bob's.
func shared(t *testing.T, s *Store) {
	t.Helper()
	many := slices.Repeat([]string{"the loom, the loom again"}, 500)
	for i := range 8 {
		addFor(t, s, "ann", skein.SessionID(fmt.Sprint("ann", i)), many...)
		switch i {
		case 1:
			addFor(t, s, "bob", "bob0", "a loom of bob's", "nothing", "his loom again")
		case 3, 5:
			addFor(t, s, "bob", "bob1", "nothing", "looms, looming")
		}
	}
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func loom(t *testing.T, text string) skein.Query {
	t.Helper()
	q, err := search.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Each = true
	return q
}

func placesOf(hits []hit) (all []string) {
	for _, h := range hits {
		all = append(all, fmt.Sprint(h.Session, " ", h.Seq))
	}
	return all
}

// If there is no time to rank a word that is frequent in other users' messages, all
// of a user's own messages are still found, and few of the others' are looked at.
func TestSearchOfOneOfManyUsersFindsAllOfHis(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	shared(t, s)
	bob := newStore(s.core, "bob")
	want := []string{"bob1 5", "bob1 3", "bob0 4", "bob0 2"}
	byUser, byProject := loom(t, "loom"), loom(t, "loom")
	byUser.User, byProject.Project = "bob", "/src/bob"
	for what, c := range map[string]struct {
		s *Store
		q skein.Query
	}{"a view": {bob, loom(t, "loom")}, "the user": {s, byUser}, "his project": {s, byProject}} {
		x := c.s.unranked(t, c.q, 9)
		if got := placesOf(x.hits); !slices.Equal(got, want) || x.cutOff {
			t.Errorf("Search by %s finds %q, cut off %v; want %q, all there is", what, got, x.cutOff, want)
		}
		if x.looked > 20 {
			t.Errorf("Search by %s looked at %d places of the index, want no more than bob's and a few", what, x.looked)
		}
	}
	if x := bob.unranked(t, loom(t, "loom"), 3); len(x.hits) != 3 || !x.cutOff {
		t.Errorf("Search for 3 finds %q, cut off %v; want to be told that there are more", placesOf(x.hits), x.cutOff)
	}
	if x := bob.unranked(t, loom(t, "loom -again"), 9); !slices.Equal(placesOf(x.hits), []string{"bob1 5", "bob1 3", "bob0 2"}) {
		t.Errorf("Search without a word finds %q", placesOf(x.hits))
	}
}

// However many of the newest sessions have no match, the older ones are
// searched, too.
func TestSearchOfOneOfManyUsersGoesThroughAllHisSessions(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	addFor(t, s, "bob", "first", "his loom")
	for i := range ownPage + 5 {
		addFor(t, s, "bob", skein.SessionID(fmt.Sprint("empty", i)), "nothing")
	}
	shared(t, s)
	addFor(t, s, "ann", "last", slices.Repeat([]string{"loom"}, recentMatches+1)...)
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	bob := newStore(s.core, "bob")
	x := bob.unranked(t, loom(t, "loom"), 9)
	if got, want := placesOf(x.hits), []string{"bob1 5", "bob1 3", "bob0 4", "bob0 2", "first 2"}; !slices.Equal(got, want) || x.cutOff {
		t.Errorf("Search finds %q, cut off %v; want %q", got, x.cutOff, want)
	}
}

// A word's prefix may be longer than what the index is asked for: matches are
// checked even if there is no time to rank them.
func TestSearchThatIsCutOffChecksBeginningsOfWords(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	addFor(t, s, "ann", "a", "quick", "quicksand", "quickly")
	addFor(t, s, "bob", "b", "quick", "quicksands", "quickly")
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := loom(t, "quicksa*")
	bob := newStore(s.core, "bob")
	if got, want := placesOf(bob.unranked(t, q, 9).hits), []string{"b 3"}; !slices.Equal(got, want) {
		t.Errorf("bob's search finds %q, want %q", got, want)
	}
	for in, want := range map[skein.SessionID]int{"": 2, "a": 1} {
		q.Session, q.Deadline = in, 1
		if r, err := s.Search(t.Context(), q); err != nil || len(r.Hits) != want || r.Hits[0].Seq != 3 {
			t.Errorf("Search in %q finds %+v, %v, want %d hits, each at 3", in, r.Hits, err, want)
		}
	}
}

// A user's events are found through indexes, and the search index is read only
// in the ranges that have them.
func TestSearchOfOneOfManyUsersGoesByIndexes(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	shared(t, s)
	for query, want := range map[string][]string{
		askQuery:           {"VIRTUAL TABLE INDEX"},
		askQuery + " DESC": {"VIRTUAL TABLE INDEX"},
		spansQuery:         {"events USING COVERING INDEX events_by_seq (session=?)"},
		idsQuery:           {"events USING COVERING INDEX events_by_seq (session=?)"},
	} {
		args := make([]any, strings.Count(query, "?"))
		for i := range args {
			args[i] = "1"
		}
		plan := ""
		err := s.read(t.Context(), func(c *engine.Conn) error {
			return c.Query("EXPLAIN QUERY PLAN "+query, args, func(row []driver.Value) error {
				plan += fmt.Sprintln(row[3])
				return nil
			})
		})
		for _, w := range want {
			if err != nil || !strings.Contains(plan, w) || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN events") {
				t.Errorf("the plan of %s is\n%s(%v), want %s in it", query, plan, err, w)
			}
		}
	}
}
