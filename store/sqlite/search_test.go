package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/search"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/textindex"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

func openTest(t *testing.T, name string) *Store {
	t.Helper()
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func created() skein.Event {
	return skein.NewEvent(skein.KindCreated, 1, skein.Created{Title: "test"})
}

func addText(t *testing.T, s *Store, id skein.SessionID, texts ...string) {
	t.Helper()
	b := skein.Batch{Session: id}
	if _, err := s.Session(t.Context(), id); err != nil {
		b.Events = append(b.Events, created())
	}
	for _, text := range texts {
		b.Events = append(b.Events, skein.Say(2, skein.UserSays(text)))
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, s *Store, text string) skein.Results {
	t.Helper()
	q, err := search.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q.Deadline = 20 * time.Second // the race detector is slow
	r, err := s.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("Search(%q): %v", text, err)
	}
	return r
}

func (s *Store) number(t *testing.T, query string) (n int64) {
	t.Helper()
	err := s.read(t.Context(), func(c *engine.Conn) error {
		_, err := c.One(query, nil, &n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Committed events are found while another process has the file locked and the
// index cannot be updated.
func TestSearchFindsWhatIsNotIndexedYet(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	addText(t, s, "a", "the kettle sings", "nothing here")
	find(t, s, "kettle") // feeds the index
	other := openTest(t, name)
	held, free := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	addText(t, s, "b", "a second kettle")
	go func() {
		done <- other.write(context.Background(), func(*txn.Tx) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	r := find(t, s, "kettle")
	close(free)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(r.Hits) != 2 {
		t.Errorf("Search yields %d sessions while another process writes, want 2: %+v", len(r.Hits), r.Hits)
	}
}

// The index catches up in the background, in steps, and then agrees with the texts.
func TestIndexCatchesUp(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	texts := make([]string, 3*textindex.FeedRows+7)
	for i := range texts {
		texts[i] = fmt.Sprintf("message %d about looms", i)
	}
	addText(t, s, "a", texts...)
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := s.number(t, `SELECT (SELECT max(id) FROM events) - upto FROM indexed`); n != 0 {
		t.Errorf("%d events wait after indexAll, want 0", n)
	}
	if n := s.number(t, `SELECT count(*) FROM words WHERE words MATCH '"loom"'`); n != int64(len(texts)) {
		t.Errorf("the index has %d messages, want %d", n, len(texts))
	}
	if err := s.change(t.Context(), func(t *txn.Tx) error {
		_, _, err := t.Exec(`INSERT INTO words (words, rank) VALUES ('integrity-check', 1)`)
		return err
	}); err != nil {
		t.Errorf("integrity-check: %v", err)
	}
}

// A search works despite a damaged index: the texts are there.
func TestSearchGoesOnWithoutTheIndex(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	addText(t, s, "a", "the shuttle flies", "the weaver rests")
	find(t, s, "weaver")
	if err := s.change(t.Context(), func(t *txn.Tx) error {
		_, _, err := t.Exec(`UPDATE words_data SET block = x'00' WHERE id > 10`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if r := find(t, s, "shuttle"); len(r.Hits) != 1 {
		t.Errorf("Search yields %d hits with a damaged index, want 1", len(r.Hits))
	}
	addText(t, s, "a", "a new thread")
	if r := find(t, s, "thread"); len(r.Hits) != 1 {
		t.Errorf("Search yields %d hits of a message appended to a damaged index, want 1", len(r.Hits))
	}
}

// A very frequent word does not delay the answer: it has the best of the newest
// matches, and says that the search was cut off.
func TestSearchIsCutOffAtTheDeadline(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "a.db"))
	texts := make([]string, 4000)
	for i := range texts {
		texts[i] = fmt.Sprintf("common %d", i)
	}
	addText(t, s, "a", texts...)
	if err := s.indexAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, q := range []skein.Query{{Terms: []skein.Term{{Words: []string{"common"}}}}, {Substring: "nowhere"}} {
		q.Each, q.Deadline = true, time.Nanosecond
		r, err := s.Search(t.Context(), q)
		if err != nil || !r.CutOff || q.Terms != nil && (len(r.Hits) != q.MostHits() || r.Hits[0].Seq < 1000) {
			t.Errorf("Search(%+v) with little to do: %d hits, cut off %v, error %v; want the newest, and to be told so", q, len(r.Hits), r.CutOff, err)
		}
	}
}
