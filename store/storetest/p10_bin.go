package storetest

import (
	"github.com/skein-dev/skein"
)

func bin() []check {
	return []check{
		{name: "the bin hides and keeps", run: binHides},
		{name: "restoring gives all back", run: restoreGives},
		{name: "the key is free while it is there", run: binKey},
		{name: "a key that was taken meanwhile is not given back", run: keyTaken},
		{name: "events can still be added there", run: appendToBinned},
		{name: "nothing goes by itself", run: nothingGoes},
	}
}

func (t *asker) bin(id skein.SessionID) {
	t.Helper()
	t.noErr("Bin", skein.LifecycleOf(t.s).Bin(t.Context(), id))
}

func (t *asker) restore(id skein.SessionID) {
	t.Helper()
	t.noErr("Restore", skein.LifecycleOf(t.s).Restore(t.Context(), id))
}

func binHides(t *test) {
	blob, im := t.full("a", "needle")
	evs, row, usage := t.events("a"), t.session("a"), t.usage(skein.UsageQuery{})
	t.bin("a")
	binned := t.session("a").Binned
	if binned == 0 {
		t.Error("Session has no time at which it was binned")
	}
	equal(t, "Sessions", t.ids(skein.Filter{IncludeEmpty: true}), nil)
	equal(t, "Sessions in the bin", t.ids(skein.Filter{Bin: true}), []skein.SessionID{"a"})
	t.wantFound("needle")
	t.wantFound("session:a needle")
	row.Binned = binned
	equal(t, "Session", t.session("a"), row)
	equal(t, "Events", t.events("a"), evs)
	equal(t, "Usage", t.usage(skein.UsageQuery{}), usage)
	if n := len(t.newest("a", 100, 0)); n != 5 {
		t.Errorf("Newest gives %d messages, want 5", n)
	}
	if data, err := t.s.Blob(t.Context(), "a", blob.Hash); err != nil || string(data) != string(blob.Data) {
		t.Errorf("Blob = %q, %v", data, err)
	}
	if found, err := skein.SourcesOf(t.s).Find(t.Context(), []skein.ClientID{"a-1"}); err != nil || found["a-1"] != at("a", 2) {
		t.Errorf("Find = %v, %v, want the event in the bin", found, err)
	}
	if _, err := skein.SourcesOf(t.s).File(t.Context(), "codex", im.File.Path); err != nil {
		t.Errorf("File = %v", err)
	}
	t.bin("a")
	if b := t.session("a").Binned; b != binned {
		t.Errorf("binning twice moved the time from %v to %v", binned, b)
	}
}

func restoreGives(t *test) {
	t.full("a", "needle")
	found := t.find("needle")
	row := t.session("a")
	t.bin("a")
	for range 2 {
		t.restore("a")
	}
	equal(t, "Session", t.session("a"), row)
	equal(t, "Sessions", t.ids(skein.Filter{}), []skein.SessionID{"a"})
	if n := len(t.find("needle")); n != len(found) {
		t.Errorf("Search finds %d, want %d as before", n, len(found))
	}
}

func binKey(t *test) {
	t.add("a", begin(skein.Created{Key: "k"}), user("x"))
	t.bin("a")
	t.add("b", begin(skein.Created{Key: "k"}), user("x"))
	equal(t, "Sessions with the key", t.ids(skein.Filter{Key: "k"}), []skein.SessionID{"b"})
	t.bin("b")
	t.restore("a")
	equal(t, "Sessions with the key", t.ids(skein.Filter{Key: "k"}), []skein.SessionID{"a"})
	if last := t.session("a").Last; last != 2 {
		t.Errorf("restoring with its key added an event: the session ends at %d, want 2", last)
	}
}

func keyTaken(t *test) {
	t.add("a", begin(skein.Created{Key: "k"}), user("x"))
	t.bin("a")
	t.add("b", created(), user("x"))
	t.add("b", changed(skein.Changed{Key: ptr("k")}))
	t.restore("a")
	s := t.session("a")
	if s.Key != "" || s.Binned != 0 || s.Last != 3 {
		t.Errorf("Session = key %q, binned %v, last %d, want no key, not binned, and an event that says so", s.Key, s.Binned, s.Last)
	}
	e := t.events("a")[2]
	c, err := skein.Decode[skein.Changed](e)
	if e.Kind != skein.KindChanged || err != nil || c.Key == nil || *c.Key != "" {
		t.Errorf("the event is %s %s, want a changed one that takes the key away", e.Kind, e.Payload)
	}
	equal(t, "Sessions with the key", t.ids(skein.Filter{Key: "k"}), []skein.SessionID{"b"})
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{changed(skein.Changed{Key: ptr("k")})}}, skein.ErrExists)
	t.add("b", changed(skein.Changed{Key: ptr("")}))
	t.add("a", changed(skein.Changed{Key: ptr("k")}))
}

func appendToBinned(t *test) {
	t.full("a", "needle")
	t.bin("a")
	t.append(skein.Batch{Session: "a", Events: []skein.Event{user("more needle")}, Import: &skein.Import{
		File: skein.SourceFile{Format: "codex", Path: "/x/a", Session: "a"}, Records: []skein.Record{{N: 2, Raw: []byte("x")}},
	}})
	t.wantEnd("a", 8)
	if t.session("a").Binned == 0 {
		t.Error("an append took the session out of the bin")
	}
	t.wantFound("more")
	t.add("f", fork("a", 2), user("own"))
	equal(t, "Sessions", t.ids(skein.Filter{}), []skein.SessionID{"f"})
	t.wantFound("session:f needle", at("f", 2))
	t.restore("a")
	t.wantFound("more", at("a", 8))
}

func nothingGoes(t *test) {
	old := created()
	old.Time = 1000 // 1970
	m := user("ancient")
	m.Time = 2000
	t.add("a", old, m)
	t.bin("a")
	for range 5 {
		t.append(skein.Batch{Session: "b", Events: []skein.Event{created()}, Again: true})
		t.delete("b")
	}
	t.restore("a")
	t.wantEnd("a", 2)
	t.wantFound("ancient", at("a", 2))
}
