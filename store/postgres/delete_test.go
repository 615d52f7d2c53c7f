package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/postgres/columns"
	"github.com/skein-dev/skein/store/postgres/wire"
)

const noon skein.Time = 1777896000000

// long appends a session of n messages, imported from a file, each with a picture and
// a cost.
func long(t testing.TB, s skein.Store, id skein.SessionID, n int) {
	t.Helper()
	origin := &skein.Origin{Format: "codex", Path: "/x/" + string(id), ID: "o"}
	b := skein.Batch{
		Session: id,
		Events:  []skein.Event{skein.NewEvent(skein.KindCreated, noon, skein.Created{Title: "long", Origin: origin})},
		Import:  &skein.Import{File: skein.SourceFile{Format: "codex", Path: origin.Path, Session: id}},
	}
	for i := range n {
		picture := skein.NewBlob([]byte(fmt.Sprint("picture ", id, i/2)))
		m := skein.Message{
			Role: skein.RoleAssistant, Provider: "p", Model: "m", Request: fmt.Sprint(id, i), Usage: &skein.Usage{Output: 1},
			Parts: []skein.Part{skein.TextPart(fmt.Sprint("needle ", i, strings.Repeat(" hay", 100))), {Kind: skein.PartFile, File: &skein.File{Name: "x.png", Blob: picture.Hash}}},
		}
		e := skein.Say(noon+skein.Time(i), m)
		e.ClientID = skein.ClientID(fmt.Sprint(id, "-", i))
		b.Events, b.Blobs = append(b.Events, e), append(b.Blobs, picture)
		b.Import.Records = append(b.Import.Records, skein.Record{N: i, Raw: []byte(strings.Repeat(fmt.Sprint("line ", i), 50)), Key: e.ClientID, Events: 1})
	}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func fork(t testing.TB, s skein.Store, id, of skein.SessionID, seq skein.Seq) {
	t.Helper()
	_, err := skein.Add(t.Context(), s, id, skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: of, Seq: seq, Why: skein.Fork}}))
	if err != nil {
		t.Fatal(err)
	}
}

// rows returns the number of rows of each table with users' content, and of heads,
// leases, journal, and purge_queue.
func (s *Store) rows(t testing.TB) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, table := range []string{
		"heads", "leases", "journal", "sessions", "events", "bases", "reparented", "purge_queue", "scrubs", "charges", "usage", "blobs", "blob_refs", "files", "records", "found",
	} {
		err := (&view{core: s.core}).ask(t.Context(), `SELECT count(*) FROM `+table, nil, func(r wire.Row) error {
			var n int
			err := r.Scan(&n)
			if n > 0 {
				found[table] = n
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// emptied fails the test unless everything is removed. It lets the store's maintenance
// finish what it is working on.
func (s *Store) emptied(t testing.TB) {
	t.Helper()
	until(t, "everything is taken away", func() bool { return len(s.rows(t)) == 0 })
}

// dies deletes a session like a process that dies right after the commit.
func (s *Store) dies(t testing.TB, id skein.SessionID) skein.Deleted {
	t.Helper()
	var done skein.Deleted
	err := s.write(t.Context(), func(tx *tx) (err error) {
		done, err = tx.delete(id, skein.Deletion{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// caughtUp indexes what waits.
func (s *Store) caughtUp(t testing.TB) {
	t.Helper()
	until(t, "the index has all", func() bool {
		st := stride{more: true}
		for st.more {
			var err error
			if st, err = s.index.step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return !st.busy && !st.waiting
	})
}

func TestDeletedAtOnceAndTakenAwayLater(t *testing.T) {
	all := opened(t)
	s := all.As("ann").(*Store)
	const n = 3 * stepRows
	long(t, s, "a", n)
	all.caughtUp(t)
	done := s.dies(t, "a")
	if done.Events != n+1 || len(done.Moved) > 0 {
		t.Errorf("Delete = %+v, want %d events", done, n+1)
	}
	ctx := t.Context()
	if _, err := s.Session(ctx, "a"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Session = %v, want not found", err)
	}
	if found, err := s.Find(ctx, []skein.ClientID{"a-1"}); err != nil || len(found) > 0 {
		t.Errorf("Find = %v, %v, want nothing", found, err)
	}
	if rows, err := s.Usage(ctx, skein.UsageQuery{}); err != nil || len(rows) > 0 {
		t.Errorf("Usage = %v, %v, want nothing", rows, err)
	}
	if r, err := s.Search(ctx, skein.Query{Terms: []skein.Term{{Words: []string{"needle"}}}}); err != nil || len(r.Hits) > 0 {
		t.Errorf("Search = %v, %v, want nothing", r.Hits, err)
	}
	if _, err := s.File(ctx, "codex", "/x/a"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("File = %v, want not found", err)
	}
	// What is stored of a request or a blob is removed with the session.
	picture := skein.NewBlob([]byte("picture a0"))
	e := skein.Say(noon, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Blob: picture.Hash}}}})
	if _, err := skein.Add(ctx, s, "b", skein.NewEvent(skein.KindCreated, noon, skein.Created{}), e); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Append of a blob that only a deleted session had = %v, want invalid", err)
	}
	m := skein.Message{Role: skein.RoleAssistant, Request: "a0", Usage: &skein.Usage{Output: 1}, Parts: []skein.Part{}}
	if _, err := skein.Add(ctx, s, "c", skein.NewEvent(skein.KindCreated, noon, skein.Created{}), skein.Say(noon, m)); err != nil {
		t.Fatal(err)
	}
	if rows, err := s.Usage(ctx, skein.UsageQuery{}); err != nil || len(rows) != 1 || rows[0].Usage.Output != 1 {
		t.Errorf("Usage of a request that only a deleted session had = %v, %v, want 1", rows, err)
	}
	if _, err := s.Delete(ctx, "c", skein.Deletion{}); err != nil { // drains the other, too
		t.Fatal(err)
	}
	all.emptied(t)
}

// The store of another process finishes what one has left.
func TestTheNextProcessTakesAway(t *testing.T) {
	all := opened(t)
	long(t, all, "a", 2*stepRows+7)
	all.caughtUp(t)
	if done := all.dies(t, "a"); done.Events == 0 {
		t.Fatalf("Delete = %+v, want something to take away", done)
	}
	if err := all.maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.emptied(t)
}

func TestForksKeepWhatTheyShow(t *testing.T) {
	all := opened(t)
	s := all.As("ann").(*Store)
	const n = 2 * stepRows
	long(t, s, "a", n)
	all.caughtUp(t)
	fork(t, s, "f", "a", 700)
	fork(t, s, "g", "a", 300)
	fork(t, s, "h", "f", 701)
	want := map[skein.SessionID][]skein.Event{}
	for _, id := range []skein.SessionID{"f", "g", "h"} {
		want[id] = events(t, s, id)
	}
	check := func(left int64, ids ...skein.SessionID) {
		t.Helper()
		for _, id := range ids {
			if got := events(t, s, id); len(got) != len(want[id]) || string(got[1].Payload) != string(want[id][1].Payload) {
				t.Errorf("%s shows %d events, want %d", id, len(got), len(want[id]))
			}
		}
		rows, err := s.Usage(t.Context(), skein.UsageQuery{By: skein.BySession})
		if err != nil || len(rows) != 1 || rows[0].Usage.Output != left || rows[0].Of != string(ids[0]) {
			t.Errorf("Usage = %+v, %v, want %d for %s", rows, err, left, ids[0])
		}
		if sess, err := s.Session(t.Context(), ids[0]); err != nil || sess.Usage.Output != left {
			t.Errorf("the new parent %s has used %+v, %v, want %d", ids[0], sess.Usage, err, left)
		}
		found, err := s.Find(t.Context(), []skein.ClientID{"a-10", "a-650", "a-800"})
		wantFound := map[skein.ClientID]skein.Place{"a-10": {Session: ids[0], Seq: 12}}
		if left > 650 {
			wantFound["a-650"] = skein.Place{Session: ids[0], Seq: 652}
		}
		if err != nil || fmt.Sprint(found) != fmt.Sprint(wantFound) {
			t.Errorf("Find = %v, %v, want %v", found, err, wantFound)
		}
		fine(t, all)
	}
	for _, step := range []struct {
		delete skein.SessionID
		moved  []skein.SessionID
		events int
		left   int64
		shown  []skein.SessionID
	}{
		{"a", []skein.SessionID{"f"}, n + 1 - 700, 699, []skein.SessionID{"f", "g", "h"}},
		{"f", []skein.SessionID{"h"}, 0, 699, []skein.SessionID{"h", "g"}},
		{"h", []skein.SessionID{"g"}, 402, 299, []skein.SessionID{"g"}},
	} {
		done := s.dies(t, step.delete)
		if done.Events != step.events || !slices.Equal(done.Moved, step.moved) {
			t.Errorf("Delete(%s) = %+v, want %d events destroyed and %v", step.delete, done, step.events, step.moved)
		}
		check(step.left, step.shown...)
		for more := true; more; {
			var err error
			if more, err = s.drain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		check(step.left, step.shown...)
	}
	if _, err := s.Delete(t.Context(), "g", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	all.emptied(t)
}

func events(t testing.TB, s skein.Store, id skein.SessionID) (all []skein.Event) {
	t.Helper()
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// fine fails the test if an examination finds damage.
func fine(t testing.TB, s *Store) {
	t.Helper()
	for f, err := range s.Examine(t.Context(), inspect.Examination{}) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Level == inspect.Damaged {
			t.Errorf("Examine finds %+v", f)
		}
	}
}

// Many goroutines fork sessions and delete them at once: no fork ever shows less than
// before.
func TestForkAndDeleteAtOnce(t *testing.T) {
	all := opened(t)
	s := all.As("ann").(*Store)
	ctx := t.Context()
	for i := range 8 {
		long(t, s, skein.SessionID(fmt.Sprint("p", i)), 20)
	}
	var wg sync.WaitGroup
	made := make(chan skein.SessionID, 1000)
	for w := range 8 {
		wg.Go(func() {
			of := skein.SessionID(fmt.Sprint("p", w))
			for i := range 12 {
				id := skein.SessionID(fmt.Sprint("f", w, "-", i))
				parent := &skein.Parent{Session: of, Seq: skein.Seq(5 + i), Why: skein.Fork}
				_, err := skein.Add(ctx, s, id, skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: parent}), skein.Say(noon, skein.UserSays("own")))
				switch {
				case err == nil:
					made <- id
					of = id
				case !errors.Is(err, skein.ErrDeleted) && !errors.Is(err, skein.ErrNotFound):
					t.Errorf("fork of %s: %v", of, err)
				}
			}
		})
		wg.Go(func() {
			for i := range 8 {
				if _, err := s.Delete(ctx, skein.SessionID(fmt.Sprint("p", (w+i)%8)), skein.Deletion{}); err != nil && !errors.Is(err, skein.ErrNotFound) {
					t.Errorf("Delete: %v", err)
				}
				gone := skein.SessionID(fmt.Sprint("f", w, "-", i))
				if _, err := s.Delete(ctx, gone, skein.Deletion{}); err != nil && !errors.Is(err, skein.ErrNotFound) {
					t.Errorf("Delete of %s: %v", gone, err)
				}
			}
		})
	}
	wg.Wait()
	close(made)
	for id := range made {
		sess, err := s.Session(ctx, id)
		if errors.Is(err, skein.ErrNotFound) {
			continue
		}
		if got := events(t, s, id); len(got) != int(sess.Last) {
			t.Errorf("%s shows %d events, want %d", id, len(got), sess.Last)
		}
	}
	fine(t, all)
}

// A blob stays if an append is about to refer to it when the last session that refers
// to it is deleted.
func TestBlobThatIsBeingReferredTo(t *testing.T) {
	s := opened(t)
	long(t, s, "a", 1)
	s.sql(t, `DELETE FROM blob_refs`)
	hash, err := columns.Hash(skein.NewBlob([]byte("picture a0")).Hash)
	if err != nil {
		t.Fatal(err)
	}
	dropped := make(chan error)
	err = s.write(t.Context(), func(t1 *tx) error {
		p := t1.pipe()
		p.Exec(`SELECT FROM blobs WHERE user_id = 'local' AND hash = $1 FOR KEY SHARE`, hash)
		p.Exec(`INSERT INTO blob_refs (user_id, hash, n, seq) VALUES ('local', $1, 1, 1)`, hash)
		if err := p.Run(); err != nil {
			return err
		}
		go func() {
			dropped <- s.write(t.Context(), func(t2 *tx) error { return t2.dropBlobs("local", [][]byte{hash}) })
		}()
		for waits := false; !waits; {
			if err := s.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, <-dropped); err != nil {
		t.Fatal(err)
	}
	if n := s.rows(t)["blobs"]; n != 1 {
		t.Errorf("there are %d blobs, want 1", n)
	}
}

// A session is deleted even if ctx stops Delete midway.
func TestDeleteStopped(t *testing.T) {
	s := opened(t)
	long(t, s, "a", 2*stepRows)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.pool.Exec(ctx, `SET LOCAL ROLE skein_owner; CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(30); RETURN OLD; END $$;
		CREATE TRIGGER pause AFTER DELETE ON charges FOR EACH STATEMENT EXECUTE FUNCTION pause()`); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := s.Delete(ctx, "a", skein.Deletion{})
		done <- err
	}()
	for gone := false; !gone; {
		_, err := s.Session(t.Context(), "a")
		gone = errors.Is(err, skein.ErrNotFound)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Delete = %v, want nil: it was committed", err)
	}
}
