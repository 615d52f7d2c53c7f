package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
)

// However little work is allowed, the messages of one session are found,
// however many other sessions said the same since, and so are those of its
// parent that a fork shows.
func TestSearchInOneSessionThatIsCutOffFindsItsNewest(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	addText(t, s, "old", "a common word", "nothing", "common again", "common, and not shown by the fork")
	later := make([]string, 2100)
	for i := range later {
		later[i] = fmt.Sprint("common ", i)
	}
	addText(t, s, "new", later...)
	parent := &skein.Parent{Session: "old", Seq: 4, Why: skein.Fork}
	if _, err := s.Append(t.Context(), skein.Batch{Session: "fork", Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, 3, skein.Created{Parent: parent}), skein.Say(4, skein.UserSays("common at last")),
	}}); err != nil {
		t.Fatal(err)
	}
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[skein.SessionID][]skein.Seq{"old": {2, 4, 5}, "fork": {2, 4, 6}} {
		q := loom(t, "common")
		q.Session, q.Deadline = id, 1
		r, err := s.Search(t.Context(), q)
		var got []skein.Seq
		for _, h := range r.Hits {
			got = append(got, h.Seq)
		}
		if slices.Sort(got); err != nil || r.CutOff || !slices.Equal(got, want) {
			t.Errorf("Search in %s finds %v, cut off %v, %v; want %v", id, got, r.CutOff, err, want)
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

// A session's messages are found the newest first, whether they wait for the
// index or no index can find them.
func TestScanOfOneSessionIsNewestFirst(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	addText(t, s, "a", "one loom", "two looms", "three")
	addText(t, s, "b", "another loom")
	addText(t, s, "a", "a loom again")
	for _, when := range []string{"before the index has them", "and after"} {
		for _, w := range []struct {
			q    skein.Query
			want []skein.Seq
		}{
			{skein.Query{Substring: "loom"}, []skein.Seq{5, 3, 2}},
			{skein.Query{Regex: "loom", Limit: 2}, []skein.Seq{5, 3}},
			{skein.Query{Role: skein.RoleUser, Limit: 3}, []skein.Seq{5, 4, 3}},
		} {
			w.q.Session, w.q.Each, w.q.Deadline = "a", true, 20*time.Second
			r, err := s.Search(t.Context(), w.q)
			if err != nil {
				t.Fatal(err)
			}
			var got []skein.Seq
			for _, h := range r.Hits {
				got = append(got, h.Seq)
			}
			if !slices.Equal(got, w.want) {
				t.Errorf("%s Search(%+v) finds %v, want %v", when, w.q, got, w.want)
			}
		}
		if err := s.indexAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
