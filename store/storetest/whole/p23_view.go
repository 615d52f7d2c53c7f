package whole

import (
	"context"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func views() []harness.Check {
	return []harness.Check{
		{Name: "another user's session is not found, by any method", Run: othersGone},
		{Name: "another user's session cannot be written to", Run: othersWrite},
		{Name: "new sessions are the user's", Run: newOnes},
		{Name: "keys and requests are each user's own", Run: ownKeys},
		{Name: "another user's text and blobs are never found", Run: othersText},
		{Name: "one's own text is found, however much others have of it", Run: ownAmongMany},
		{Name: "files and client IDs are each user's own", Run: ownFiles},
		{Name: "naming another user's session as parent does not make a child", Run: strangers},
		{Name: "16 users at once", Run: manyUsers},
	}
}

func othersGone(t *harness.Test) {
	t.As("ann", func() { t.Full("a", "needle") })
	t.As("bob", func() {
		t.WantGone(t.Store, "a")
		t.WantFound("needle")
		harness.Equal(t, "Usage", t.Usage(skein.UsageQuery{}), []skein.UsageRow{})
		harness.Equal(t, "Files", harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")), nil)
		_, err := skein.SourcesOf(t.Store).File(t.Context(), "codex", "/x/a")
		t.WantErr("File", err, skein.ErrNotFound)
		t.WantErr("Records", harness.Failure(t, skein.SourcesOf(t.Store).Records(t.Context(), "codex", "/x/a", 0)), skein.ErrNotFound)
		found, err := skein.SourcesOf(t.Store).Find(t.Context(), []skein.ClientID{"a-1"})
		if err != nil || len(found) > 0 {
			t.Errorf("Find = %v, %v, want nothing", found, err)
		}
		_, err = skein.LeasesOf(t.Store).Acquire(t.Context(), "a", skein.LeaseRequest{})
		t.WantErr("Acquire", err, skein.ErrNotFound)
		for _, q := range []skein.Query{{Substring: "eedl"}, {Regex: "needl."}, {User: "ann", Substring: "eedl"}, {Session: "a"}, {Tool: "tool-needle"}} {
			if hits := t.Search(q); len(hits) > 0 {
				t.Errorf("Search(%+v) = %+v, want nothing", q, hits)
			}
		}
		harness.Equal(t, "Sessions of ann", t.IDs(skein.Filter{User: "ann"}), nil)
		harness.Equal(t, "Usage of ann", t.Usage(skein.UsageQuery{User: "ann"}), []skein.UsageRow{})
	})
	t.As("ann", func() {
		t.WantEnd("a", 7)
		if n := len(t.Find("needle")); n == 0 {
			t.Error("Search does not find one's own")
		}
	})
	t.WantEnd("a", 7)
	harness.Equal(t, "Sessions of ann, seen by all", t.IDs(skein.Filter{User: "ann"}), []skein.SessionID{"a"})
	harness.Equal(t, "Sessions of bob, seen by all", t.IDs(skein.Filter{User: "bob"}), nil)
}

// ownAmongMany checks that everything that a user said is found, without a
// notice that there may be more, if others said the same before, between and
// after it.
func ownAmongMany(t *harness.Test) {
	others := func(id skein.SessionID) {
		evs := []skein.Event{fixture.Created()}
		for range 300 {
			evs = append(evs, fixture.User("needle, needle and thread"))
		}
		t.As("ann", func() { t.Add(id, evs...) })
	}
	others("a1")
	t.As("bob", func() { t.Add("b", fixture.Created(), fixture.User("a needle of bob's"), fixture.User("nothing")) })
	others("a2")
	t.As("bob", func() { t.Add("b", fixture.User("the needle again")) })
	others("a3")
	t.As("bob", func() {
		t.WantFound("needle", harness.At("b", 2), harness.At("b", 4))
		for _, q := range []skein.Query{{Terms: []skein.Term{{Words: []string{"needle"}}}}, {Substring: "eedle"}, {Regex: "ne+dle"}} {
			q.Each, q.Limit, q.Deadline = true, 10, harness.Patience
			r, err := t.Store.Search(t.Context(), q)
			if err != nil || len(r.Hits) != 2 || r.CutOff {
				t.Errorf("Search(%+v) gives %d hits (cut off %v), %v, want both and no more", q, len(r.Hits), r.CutOff, err)
			}
		}
	})
}

func othersWrite(t *harness.Test) {
	t.As("ann", func() { t.Add("a", fixture.Created(), fixture.User("x"), fixture.ID("1", fixture.User("y"))) })
	l := t.Acquire("a", skein.LeaseRequest{TTL: time.Hour})
	t.As("bob", func() {
		t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("z")}}, skein.ErrNotFound)
		t.Refused(skein.Batch{Session: "a", After: 1, Events: []skein.Event{fixture.User("z")}}, skein.ErrNotFound)
		t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("1", fixture.User("y"))}}, skein.ErrNotFound)
		t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.User("z")}}, skein.ErrExists)
		t.Add("own", fixture.Created())
		t.Add("longer", fixture.Created(), fixture.User("x"))
		for id, want := range map[skein.SessionID]bool{"a": false, "own": false, "longer": false, "none": true} {
			if free, err := skein.Free(t.Context(), t.Store, id); free != want || err != nil {
				t.Errorf("Free(%s) = %v, %v, want %v", id, free, err, want)
			}
		}
		t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork("a", 1)}}, skein.ErrNotFound)
		t.Refused(skein.Batch{Session: "a", Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p"}}}, skein.ErrNotFound)
		_, err := skein.LeasesOf(t.Store).Renew(t.Context(), l, time.Hour)
		t.WantErr("Renew of another's lease", err, skein.ErrFenced)
		t.NoErr("Release of another's lease", skein.LeasesOf(t.Store).Release(t.Context(), l))
	})
	if s := t.Session("a"); s.LockedBy == "" || s.Last != 3 {
		t.Errorf("Session = %+v, want it locked and as it was", s)
	}
	// A handle on all users' sessions must fork as the owner.
	t.Refused(skein.Batch{Session: "f", Events: []skein.Event{fixture.Fork("a", 1)}}, skein.ErrNotFound)
	own := fixture.Begin(skein.Created{User: "ann", Parent: &skein.Parent{Session: "a", Seq: 2, Why: skein.Fork}})
	t.Add("f", own)
	t.As("ann", func() { t.WantEnd("f", 3) })
}

func newOnes(t *harness.Test) {
	t.As("ann", func() {
		t.Add("a", fixture.Created(), fixture.User("x"))
		t.Add("b", fixture.Begin(skein.Created{User: "ann"}))
		t.Refused(skein.Batch{Session: "c", Events: []skein.Event{fixture.Begin(skein.Created{User: "bob"})}}, skein.ErrInvalid)
		t.Add("f", fixture.Fork("a", 2))
	})
	t.Add("d", fixture.Created())
	t.Add("e", fixture.Begin(skein.Created{User: "eve"}))
	for id, want := range map[skein.SessionID]skein.User{"a": "ann", "b": "ann", "d": skein.Local, "e": "eve", "f": "ann"} {
		if got := t.Session(id).User; got != want {
			t.Errorf("session %s is %s's, want %s", id, got, want)
		}
	}
	t.Refused(skein.Batch{Session: "g", Events: []skein.Event{fixture.Begin(skein.Created{User: "a\nb"})}}, skein.ErrInvalid)
	t.As("ann", func() {
		view := t.Store
		t.As("bob", func() {
			if _, err := t.Store.Session(t.Context(), "a"); err == nil {
				t.Error("a view of a view sees what the second user does not own")
			}
		})
		t.Store = view
		t.Delete("a")
	})
	t.WantGone(t.Store, "a")
}

func ownKeys(t *harness.Test) {
	u := skein.Usage{Input: 5}
	t.As("ann", func() { t.Add("a", fixture.Begin(skein.Created{Key: "k"}), fixture.Paid("r", fixture.Noon, "m", u)) })
	t.As("bob", func() { t.Add("b", fixture.Begin(skein.Created{Key: "k"}), fixture.Paid("r", fixture.Noon, "m", u)) })
	for _, who := range []skein.User{"ann", "bob"} {
		t.As(who, func() {
			if n := len(t.IDs(skein.Filter{Key: "k"})); n != 1 {
				t.Errorf("%s sees %d sessions with the key, want 1", who, n)
			}
			harness.Equal(t, "Usage of "+string(who), t.Total(skein.UsageQuery{}), skein.Usage{Input: 5, Requests: 1})
		})
	}
	harness.Equal(t, "Usage of all", t.Total(skein.UsageQuery{}), skein.Usage{Input: 10, Requests: 2})
	t.As("ann", func() { t.Delete("a") })
	harness.Equal(t, "Usage of bob", t.Total(skein.UsageQuery{}), skein.Usage{Input: 5, Requests: 1})
}

func othersText(t *harness.Test) {
	b := skein.NewBlob([]byte("ann's picture"))
	t.As("ann", func() {
		t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created(), fixture.Shows("x.png", b)}, Blobs: []skein.Blob{b}})
		t.Add("a", fixture.User("needle of ann"))
	})
	t.As("bob", func() {
		t.Add("b", fixture.Created(), fixture.User("needle of bob"))
		t.WantFound("needle", harness.At("b", 2))
		t.NoBlob("b", b)
		// Knowing a hash does not give access to the bytes.
		t.Refused(skein.Batch{Session: "b", Events: []skein.Event{fixture.Shows("x.png", b)}}, skein.ErrInvalid)
		t.Append(skein.Batch{Session: "b", Events: []skein.Event{fixture.Shows("x.png", b)}, Blobs: []skein.Blob{b}})
		t.Blob("b", b)
		t.Delete("b")
	})
	t.As("ann", func() {
		t.Blob("a", b)
		t.WantFound("needle", harness.At("a", 3))
	})
	t.WantFound("needle", harness.At("a", 3))
}

func ownFiles(t *harness.Test) {
	for _, who := range []skein.User{"ann", "bob"} {
		t.As(who, func() {
			id := skein.SessionID("of-" + who)
			e := fixture.User("x")
			e.ClientID = "k0"
			t.Append(skein.Batch{Session: id, Events: []skein.Event{fixture.Created(), e}, Import: &skein.Import{
				File: skein.SourceFile{Format: "f", Path: "/same", Session: id}, Records: fixture.Lines(0, 0, "line of "+string(who)),
			}})
			t.Append(skein.Batch{Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/alone", ID: string(who)}}})
		})
	}
	for _, who := range []skein.User{"ann", "bob"} {
		t.As(who, func() {
			id := skein.SessionID("of-" + who)
			found, err := skein.SourcesOf(t.Store).Find(t.Context(), []skein.ClientID{"k0"})
			if err != nil || len(found) != 1 || found["k0"] != harness.At(id, 2) {
				t.Errorf("Find of %s = %v, %v, want one's own", who, found, err)
			}
			f, err := skein.SourcesOf(t.Store).File(t.Context(), "f", "/same")
			if err != nil || f.Session != id {
				t.Errorf("File of %s = %+v, %v, want one's own", who, f, err)
			}
			harness.Equal(t, "Records of "+string(who), t.Records("f", "/same", 0), fixture.Lines(0, 0, "line of "+string(who)))
			if alone, err := skein.SourcesOf(t.Store).File(t.Context(), "f", "/alone"); err != nil || alone.ID != string(who) {
				t.Errorf("File of %s = %+v, %v, want one's own", who, alone, err)
			}
		})
	}
	if n := len(harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "f"))); n != 4 {
		t.Errorf("Files seen by all yields %d, want 4", n)
	}
	t.As("ann", func() { t.Delete("of-ann") })
	t.As("bob", func() { harness.Equal(t, "Records", t.Records("f", "/same", 0), fixture.Lines(0, 0, "line of bob")) })
}

func strangers(t *harness.Test) {
	t.As("ann", func() { t.Add("a", fixture.Created(), fixture.User("x")) })
	t.As("bob", func() { t.Add("b", fixture.Child("a"), fixture.User("x")) })
	t.As("ann", func() {
		if d, err := skein.LifecycleOf(t.Store).Delete(t.Context(), "a", skein.Deletion{Children: skein.RefuseChildren}); err != nil || len(d.Children) > 0 {
			t.Errorf("Delete = %+v, %v, want no children", d, err)
		}
		t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created()}, Again: true})
		if d, err := skein.LifecycleOf(t.Store).Delete(t.Context(), "a", skein.Deletion{Children: skein.BinChildren}); err != nil || len(d.Binned) > 0 {
			t.Errorf("Delete = %+v, %v, want nothing in the bin", d, err)
		}
	})
	if b := t.Session("b").Binned; b != 0 {
		t.Error("another user's session went to the bin")
	}
}

func manyUsers(t *harness.Test) {
	harness.Everyone(16, func(w int) {
		s := t.Store.As(skein.User(fmt.Sprint("u", w)))
		id := skein.SessionID(fmt.Sprint("s", w))
		for i := range 5 {
			evs := []skein.Event{fixture.User(fmt.Sprint("needle ", i))}
			if i == 0 {
				evs = []skein.Event{fixture.Begin(skein.Created{Key: "k"}), evs[0]}
			}
			if _, err := skein.Add(context.Background(), s, id, evs...); err != nil {
				t.Errorf("Append = %v", err)
			}
			r, err := s.Search(context.Background(), skein.Query{Substring: "needle", Each: true, Deadline: harness.Patience})
			if err != nil || len(r.Hits) != i+1 {
				t.Errorf("Search = %d hits, %v, want %d", len(r.Hits), err, i+1)
			}
			for _, h := range r.Hits {
				if h.Session != id {
					t.Errorf("Search of %s finds what is in %s", id, h.Session)
				}
			}
		}
	})
}
