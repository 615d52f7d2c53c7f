package hits_test

import (
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/pack"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/hits"
)

// A file is a store, and a connection to its file.
type file struct {
	*sqlite.Store
	path string
	conn *engine.Conn
	pack *pack.Packer
}

func opened(t *testing.T) *file {
	t.Helper()
	s := &file{path: filepath.Join(t.TempDir(), "a.db")}
	s.open(t)
	var err error
	if s.pack, err = pack.New(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.pack.Close)
	return s
}

func (s *file) open(t *testing.T) {
	t.Helper()
	var err error
	if s.Store, err = sqlite.Open(t.Context(), s.path, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
}

// index closes the store, which indexes what waits, opens it again, and connects to its
// file for a search.
func (s *file) index(t *testing.T) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	d, err := engine.Driver()
	if err != nil {
		t.Fatal(err)
	}
	if s.conn, err = engine.Connect(d, engine.DSN(s.path, "mode=rw")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.conn.Close() })
	var waiting int64
	if _, err := s.conn.One(`SELECT count(*) FROM events WHERE id > (SELECT upto FROM indexed)`, nil, &waiting); err != nil || waiting > 0 {
		t.Fatalf("%d events are not indexed, %v", waiting, err)
	}
}

// unranked runs a search that may look at only one place of the index before it
// turns to the ranges of the events that it searches.
func (s *file) unranked(t *testing.T, user skein.User, q skein.Query, limit int) hits.Unranked {
	t.Helper()
	q.Deadline = 20 * time.Second
	x, err := hits.New(hits.View{User: user, Pack: s.pack}, q)
	if err != nil {
		t.Fatal(err)
	}
	r, err := x.Unranked(s.conn, limit)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// addFor appends messages to a session of a user, creating the session if need be.
func addFor(t *testing.T, s *file, user skein.User, id skein.SessionID, texts ...string) {
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
func shared(t *testing.T, s *file) {
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

func placesOf(hits []skein.Hit) (all []string) {
	for _, h := range hits {
		all = append(all, fmt.Sprint(h.Session, " ", h.Seq))
	}
	return all
}

// If there is no time to rank a word that is frequent in other users' messages, all
// of a user's own messages are still found, and few of the others' are looked at.
func TestSearchOfOneOfManyUsersFindsAllOfHis(t *testing.T) {
	s := opened(t)
	shared(t, s)
	s.index(t)
	want := []string{"bob1 5", "bob1 3", "bob0 4", "bob0 2"}
	byUser, byProject := loom(t, "loom"), loom(t, "loom")
	byUser.User, byProject.Project = "bob", "/src/bob"
	for what, c := range map[string]struct {
		user skein.User
		q    skein.Query
	}{"a view": {"bob", loom(t, "loom")}, "the user": {"", byUser}, "his project": {"", byProject}} {
		x := s.unranked(t, c.user, c.q, 9)
		if got := placesOf(x.Hits); !slices.Equal(got, want) || x.CutOff {
			t.Errorf("Search by %s finds %q, cut off %v; want %q, all there is", what, got, x.CutOff, want)
		}
		if x.Looked > 20 {
			t.Errorf("Search by %s looked at %d places of the index, want no more than bob's and a few", what, x.Looked)
		}
	}
	if x := s.unranked(t, "bob", loom(t, "loom"), 3); len(x.Hits) != 3 || !x.CutOff {
		t.Errorf("Search for 3 finds %q, cut off %v; want to be told that there are more", placesOf(x.Hits), x.CutOff)
	}
	if x := s.unranked(t, "bob", loom(t, "loom -again"), 9); !slices.Equal(placesOf(x.Hits), []string{"bob1 5", "bob1 3", "bob0 2"}) {
		t.Errorf("Search without a word finds %q", placesOf(x.Hits))
	}
}

// However many of the newest sessions have no match, the older ones are
// searched, too.
func TestSearchOfOneOfManyUsersGoesThroughAllHisSessions(t *testing.T) {
	s := opened(t)
	addFor(t, s, "bob", "first", "his loom")
	for i := range hits.OwnPage + 5 {
		addFor(t, s, "bob", skein.SessionID(fmt.Sprint("empty", i)), "nothing")
	}
	shared(t, s)
	addFor(t, s, "ann", "last", slices.Repeat([]string{"loom"}, hits.RecentMatches+1)...)
	s.index(t)
	x := s.unranked(t, "bob", loom(t, "loom"), 9)
	if got, want := placesOf(x.Hits), []string{"bob1 5", "bob1 3", "bob0 4", "bob0 2", "first 2"}; !slices.Equal(got, want) || x.CutOff {
		t.Errorf("Search finds %q, cut off %v; want %q", got, x.CutOff, want)
	}
}

// A word's prefix may be longer than what the index is asked for: matches are
// checked even if there is no time to rank them.
func TestSearchThatIsCutOffChecksBeginningsOfWords(t *testing.T) {
	s := opened(t)
	addFor(t, s, "ann", "a", "quick", "quicksand", "quickly")
	addFor(t, s, "bob", "b", "quick", "quicksands", "quickly")
	s.index(t)
	q := loom(t, "quicksa*")
	if got, want := placesOf(s.unranked(t, "bob", q, 9).Hits), []string{"b 3"}; !slices.Equal(got, want) {
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
	s := opened(t)
	shared(t, s)
	s.index(t)
	for query, want := range map[string][]string{
		hits.AskQuery:           {"VIRTUAL TABLE INDEX"},
		hits.AskQuery + " DESC": {"VIRTUAL TABLE INDEX"},
		hits.SpansQuery:         {"events USING COVERING INDEX events_by_seq (session=?)"},
		hits.IDsQuery:           {"events USING COVERING INDEX events_by_seq (session=?)"},
	} {
		args := make([]any, strings.Count(query, "?"))
		for i := range args {
			args[i] = "1"
		}
		plan := ""
		err := s.conn.Query("EXPLAIN QUERY PLAN "+query, args, func(row []driver.Value) error {
			plan += fmt.Sprintln(row[3])
			return nil
		})
		for _, w := range want {
			if err != nil || !strings.Contains(plan, w) || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN events") {
				t.Errorf("the plan of %s is\n%s(%v), want %s in it", query, plan, err, w)
			}
		}
	}
}
