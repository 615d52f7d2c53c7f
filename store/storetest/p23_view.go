package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/skein-dev/skein"
)

func views() []check {
	return []check{
		{name: "another user's session is not found, by any method", run: othersGone},
		{name: "another user's session cannot be written to", run: othersWrite},
		{name: "new sessions are the user's", run: newOnes},
		{name: "keys and requests are each user's own", run: ownKeys},
		{name: "another user's text and blobs are never found", run: othersText},
		{name: "one's own text is found, however much others have of it", run: ownAmongMany},
		{name: "files and client IDs are each user's own", run: ownFiles},
		{name: "naming another user's session as parent does not make a child", run: strangers},
		{name: "16 users at once", run: manyUsers},
	}
}

// as runs f with u's view as the store of the test.
func (t *test) as(u skein.User, f func()) {
	t.Helper()
	was := t.s
	t.s = was.As(u)
	f()
	t.s = was
}

func othersGone(t *test) {
	t.as("ann", func() { t.full("a", "needle") })
	t.as("bob", func() {
		t.wantGone(t.s, "a")
		t.wantFound("needle")
		equal(t, "Usage", t.usage(skein.UsageQuery{}), []skein.UsageRow{})
		equal(t, "Files", all(t, skein.SourcesOf(t.s).Files(t.Context(), "")), nil)
		_, err := skein.SourcesOf(t.s).File(t.Context(), "codex", "/x/a")
		t.wantErr("File", err, skein.ErrNotFound)
		t.wantErr("Records", failure(t, skein.SourcesOf(t.s).Records(t.Context(), "codex", "/x/a", 0)), skein.ErrNotFound)
		found, err := skein.SourcesOf(t.s).Find(t.Context(), []skein.ClientID{"a-1"})
		if err != nil || len(found) > 0 {
			t.Errorf("Find = %v, %v, want nothing", found, err)
		}
		_, err = skein.LeasesOf(t.s).Acquire(t.Context(), "a", skein.LeaseRequest{})
		t.wantErr("Acquire", err, skein.ErrNotFound)
		for _, q := range []skein.Query{{Substring: "eedl"}, {Regex: "needl."}, {User: "ann", Substring: "eedl"}, {Session: "a"}, {Tool: "tool-needle"}} {
			if hits := t.search(q); len(hits) > 0 {
				t.Errorf("Search(%+v) = %+v, want nothing", q, hits)
			}
		}
		equal(t, "Sessions of ann", t.ids(skein.Filter{User: "ann"}), nil)
		equal(t, "Usage of ann", t.usage(skein.UsageQuery{User: "ann"}), []skein.UsageRow{})
	})
	t.as("ann", func() {
		t.wantEnd("a", 7)
		if n := len(t.find("needle")); n == 0 {
			t.Error("Search does not find one's own")
		}
	})
	t.wantEnd("a", 7)
	equal(t, "Sessions of ann, seen by all", t.ids(skein.Filter{User: "ann"}), []skein.SessionID{"a"})
	equal(t, "Sessions of bob, seen by all", t.ids(skein.Filter{User: "bob"}), nil)
}

// ownAmongMany checks that everything that a user said is found, without a
// notice that there may be more, if others said the same before, between and
// after it.
func ownAmongMany(t *test) {
	others := func(id skein.SessionID) {
		evs := []skein.Event{created()}
		for range 300 {
			evs = append(evs, user("needle, needle and thread"))
		}
		t.as("ann", func() { t.add(id, evs...) })
	}
	others("a1")
	t.as("bob", func() { t.add("b", created(), user("a needle of bob's"), user("nothing")) })
	others("a2")
	t.as("bob", func() { t.add("b", user("the needle again")) })
	others("a3")
	t.as("bob", func() {
		t.wantFound("needle", at("b", 2), at("b", 4))
		for _, q := range []skein.Query{{Terms: []skein.Term{{Words: []string{"needle"}}}}, {Substring: "eedle"}, {Regex: "ne+dle"}} {
			q.Each, q.Limit, q.Deadline = true, 10, patience
			r, err := t.s.Search(t.Context(), q)
			if err != nil || len(r.Hits) != 2 || r.CutOff {
				t.Errorf("Search(%+v) gives %d hits (cut off %v), %v, want both and no more", q, len(r.Hits), r.CutOff, err)
			}
		}
	})
}

func othersWrite(t *test) {
	t.as("ann", func() { t.add("a", created(), user("x"), id("1", user("y"))) })
	l := t.acquire("a", skein.LeaseRequest{TTL: time.Hour})
	t.as("bob", func() {
		t.refused(skein.Batch{Session: "a", Events: []skein.Event{user("z")}}, skein.ErrNotFound)
		t.refused(skein.Batch{Session: "a", After: 1, Events: []skein.Event{user("z")}}, skein.ErrNotFound)
		t.refused(skein.Batch{Session: "a", Events: []skein.Event{id("1", user("y"))}}, skein.ErrNotFound)
		t.refused(skein.Batch{Session: "a", Events: []skein.Event{created(), user("z")}}, skein.ErrExists)
		t.add("own", created())
		t.add("longer", created(), user("x"))
		for id, want := range map[skein.SessionID]bool{"a": false, "own": false, "longer": false, "none": true} {
			if free, err := skein.Free(t.Context(), t.s, id); free != want || err != nil {
				t.Errorf("Free(%s) = %v, %v, want %v", id, free, err, want)
			}
		}
		t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork("a", 1)}}, skein.ErrNotFound)
		t.refused(skein.Batch{Session: "a", Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p"}}}, skein.ErrNotFound)
		_, err := skein.LeasesOf(t.s).Renew(t.Context(), l, time.Hour)
		t.wantErr("Renew of another's lease", err, skein.ErrFenced)
		t.noErr("Release of another's lease", skein.LeasesOf(t.s).Release(t.Context(), l))
	})
	if s := t.session("a"); s.LockedBy == "" || s.Last != 3 {
		t.Errorf("Session = %+v, want it locked and as it was", s)
	}
	// A handle on all users' sessions must fork as the owner.
	t.refused(skein.Batch{Session: "f", Events: []skein.Event{fork("a", 1)}}, skein.ErrNotFound)
	own := begin(skein.Created{User: "ann", Parent: &skein.Parent{Session: "a", Seq: 2, Why: skein.Fork}})
	t.add("f", own)
	t.as("ann", func() { t.wantEnd("f", 3) })
}

func newOnes(t *test) {
	t.as("ann", func() {
		t.add("a", created(), user("x"))
		t.add("b", begin(skein.Created{User: "ann"}))
		t.refused(skein.Batch{Session: "c", Events: []skein.Event{begin(skein.Created{User: "bob"})}}, skein.ErrInvalid)
		t.add("f", fork("a", 2))
	})
	t.add("d", created())
	t.add("e", begin(skein.Created{User: "eve"}))
	for id, want := range map[skein.SessionID]skein.User{"a": "ann", "b": "ann", "d": skein.Local, "e": "eve", "f": "ann"} {
		if got := t.session(id).User; got != want {
			t.Errorf("session %s is %s's, want %s", id, got, want)
		}
	}
	t.refused(skein.Batch{Session: "g", Events: []skein.Event{begin(skein.Created{User: "a\nb"})}}, skein.ErrInvalid)
	t.as("ann", func() {
		view := t.s
		t.as("bob", func() {
			if _, err := t.s.Session(t.Context(), "a"); err == nil {
				t.Error("a view of a view sees what the second user does not own")
			}
		})
		t.s = view
		t.delete("a")
	})
	t.wantGone(t.s, "a")
}

func ownKeys(t *test) {
	u := skein.Usage{Input: 5}
	t.as("ann", func() { t.add("a", begin(skein.Created{Key: "k"}), paid("r", noon, "m", u)) })
	t.as("bob", func() { t.add("b", begin(skein.Created{Key: "k"}), paid("r", noon, "m", u)) })
	for _, who := range []skein.User{"ann", "bob"} {
		t.as(who, func() {
			if n := len(t.ids(skein.Filter{Key: "k"})); n != 1 {
				t.Errorf("%s sees %d sessions with the key, want 1", who, n)
			}
			equal(t, "Usage of "+string(who), t.total(skein.UsageQuery{}), skein.Usage{Input: 5, Requests: 1})
		})
	}
	equal(t, "Usage of all", t.total(skein.UsageQuery{}), skein.Usage{Input: 10, Requests: 2})
	t.as("ann", func() { t.delete("a") })
	equal(t, "Usage of bob", t.total(skein.UsageQuery{}), skein.Usage{Input: 5, Requests: 1})
}

func othersText(t *test) {
	b := skein.NewBlob([]byte("ann's picture"))
	t.as("ann", func() {
		t.append(skein.Batch{Session: "a", Events: []skein.Event{created(), shows("x.png", b)}, Blobs: []skein.Blob{b}})
		t.add("a", user("needle of ann"))
	})
	t.as("bob", func() {
		t.add("b", created(), user("needle of bob"))
		t.wantFound("needle", at("b", 2))
		t.noBlob("b", b)
		// Knowing a hash does not give access to the bytes.
		t.refused(skein.Batch{Session: "b", Events: []skein.Event{shows("x.png", b)}}, skein.ErrInvalid)
		t.append(skein.Batch{Session: "b", Events: []skein.Event{shows("x.png", b)}, Blobs: []skein.Blob{b}})
		t.blob("b", b)
		t.delete("b")
	})
	t.as("ann", func() {
		t.blob("a", b)
		t.wantFound("needle", at("a", 3))
	})
	t.wantFound("needle", at("a", 3))
}

func ownFiles(t *test) {
	for _, who := range []skein.User{"ann", "bob"} {
		t.as(who, func() {
			id := skein.SessionID("of-" + who)
			e := user("x")
			e.ClientID = "k0"
			t.append(skein.Batch{Session: id, Events: []skein.Event{created(), e}, Import: &skein.Import{
				File: skein.SourceFile{Format: "f", Path: "/same", Session: id}, Records: lines(0, 0, "line of "+string(who)),
			}})
			t.append(skein.Batch{Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/alone", ID: string(who)}}})
		})
	}
	for _, who := range []skein.User{"ann", "bob"} {
		t.as(who, func() {
			id := skein.SessionID("of-" + who)
			found, err := skein.SourcesOf(t.s).Find(t.Context(), []skein.ClientID{"k0"})
			if err != nil || len(found) != 1 || found["k0"] != at(id, 2) {
				t.Errorf("Find of %s = %v, %v, want one's own", who, found, err)
			}
			f, err := skein.SourcesOf(t.s).File(t.Context(), "f", "/same")
			if err != nil || f.Session != id {
				t.Errorf("File of %s = %+v, %v, want one's own", who, f, err)
			}
			equal(t, "Records of "+string(who), t.records("f", "/same", 0), lines(0, 0, "line of "+string(who)))
			if alone, err := skein.SourcesOf(t.s).File(t.Context(), "f", "/alone"); err != nil || alone.ID != string(who) {
				t.Errorf("File of %s = %+v, %v, want one's own", who, alone, err)
			}
		})
	}
	if n := len(all(t, skein.SourcesOf(t.s).Files(t.Context(), "f"))); n != 4 {
		t.Errorf("Files seen by all yields %d, want 4", n)
	}
	t.as("ann", func() { t.delete("of-ann") })
	t.as("bob", func() { equal(t, "Records", t.records("f", "/same", 0), lines(0, 0, "line of bob")) })
}

func strangers(t *test) {
	t.as("ann", func() { t.add("a", created(), user("x")) })
	t.as("bob", func() { t.add("b", child("a"), user("x")) })
	t.as("ann", func() {
		if d, err := skein.LifecycleOf(t.s).Delete(t.Context(), "a", skein.Deletion{Children: skein.RefuseChildren}); err != nil || len(d.Children) > 0 {
			t.Errorf("Delete = %+v, %v, want no children", d, err)
		}
		t.append(skein.Batch{Session: "a", Events: []skein.Event{created()}, Again: true})
		if d, err := skein.LifecycleOf(t.s).Delete(t.Context(), "a", skein.Deletion{Children: skein.BinChildren}); err != nil || len(d.Binned) > 0 {
			t.Errorf("Delete = %+v, %v, want nothing in the bin", d, err)
		}
	})
	if b := t.session("b").Binned; b != 0 {
		t.Error("another user's session went to the bin")
	}
}

func manyUsers(t *test) {
	everyone(16, func(w int) {
		s := t.s.As(skein.User(fmt.Sprint("u", w)))
		id := skein.SessionID(fmt.Sprint("s", w))
		for i := range 5 {
			evs := []skein.Event{user(fmt.Sprint("needle ", i))}
			if i == 0 {
				evs = []skein.Event{begin(skein.Created{Key: "k"}), evs[0]}
			}
			if _, err := skein.Add(context.Background(), s, id, evs...); err != nil {
				t.Errorf("Append = %v", err)
			}
			r, err := s.Search(context.Background(), skein.Query{Substring: "needle", Each: true, Deadline: patience})
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
