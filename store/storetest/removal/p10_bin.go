package removal

import (
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func bin() []harness.Check {
	return []harness.Check{
		{Name: "the bin hides and keeps", Run: binHides},
		{Name: "restoring gives all back", Run: restoreGives},
		{Name: "the key is free while it is there", Run: binKey},
		{Name: "a key that was taken meanwhile is not given back", Run: keyTaken},
		{Name: "events can still be added there", Run: appendToBinned},
		{Name: "nothing goes by itself", Run: nothingGoes},
	}
}

func binHides(t *harness.Test) {
	blob, im := t.Full("a", "needle")
	evs, row := t.Events("a"), t.Session("a")
	ways := []skein.Dimension{
		skein.ByDay, skein.BySlot, skein.ByModelID, skein.ByAgent, skein.ByProject, skein.ByRepository, skein.ByBranch, skein.BySession,
	}
	usage := map[skein.Dimension][]skein.UsageRow{}
	for _, by := range ways {
		usage[by] = t.Usage(skein.UsageQuery{By: by})
	}
	t.Bin("a")
	binned := t.Session("a").Binned
	if binned == 0 {
		t.Error("Session has no time at which it was binned")
	}
	harness.Equal(t, "Sessions", t.IDs(skein.Filter{IncludeEmpty: true}), nil)
	harness.Equal(t, "Sessions in the bin", t.IDs(skein.Filter{Bin: true}), []skein.SessionID{"a"})
	t.WantFound("needle")
	t.WantFound("session:a needle")
	row.Binned = binned
	harness.Equal(t, "Session", t.Session("a"), row)
	harness.Equal(t, "Events", t.Events("a"), evs)
	for _, by := range ways {
		harness.Equal(t, "Usage by "+string(by), t.Usage(skein.UsageQuery{By: by}), usage[by])
	}
	harness.Equal(t, "Usage of a", t.Usage(skein.UsageQuery{By: skein.BySession, Sessions: []skein.SessionID{"a"}}), usage[skein.BySession])
	if n := len(t.Newest("a", 100, 0)); n != 5 {
		t.Errorf("Newest gives %d messages, want 5", n)
	}
	if data, err := t.Store.Blob(t.Context(), "a", blob.Hash); err != nil || string(data) != string(blob.Data) {
		t.Errorf("Blob = %q, %v", data, err)
	}
	if found, err := skein.SourcesOf(t.Store).Find(t.Context(), []skein.ClientID{"a-1"}); err != nil || found["a-1"] != harness.At("a", 2) {
		t.Errorf("Find = %v, %v, want the event in the bin", found, err)
	}
	if _, err := skein.SourcesOf(t.Store).File(t.Context(), "codex", im.File.Path); err != nil {
		t.Errorf("File = %v", err)
	}
	t.Bin("a")
	if b := t.Session("a").Binned; b != binned {
		t.Errorf("binning twice moved the time from %v to %v", binned, b)
	}
}

func restoreGives(t *harness.Test) {
	t.Full("a", "needle")
	found := t.Find("needle")
	row := t.Session("a")
	t.Bin("a")
	for range 2 {
		t.Restore("a")
	}
	harness.Equal(t, "Session", t.Session("a"), row)
	harness.Equal(t, "Sessions", t.IDs(skein.Filter{}), []skein.SessionID{"a"})
	if n := len(t.Find("needle")); n != len(found) {
		t.Errorf("Search finds %d, want %d as before", n, len(found))
	}
}

func binKey(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Key: "k"}), fixture.User("x"))
	t.Bin("a")
	t.Add("b", fixture.Begin(skein.Created{Key: "k"}), fixture.User("x"))
	harness.Equal(t, "Sessions with the key", t.IDs(skein.Filter{Key: "k"}), []skein.SessionID{"b"})
	t.Bin("b")
	t.Restore("a")
	harness.Equal(t, "Sessions with the key", t.IDs(skein.Filter{Key: "k"}), []skein.SessionID{"a"})
	if last := t.Session("a").Last; last != 2 {
		t.Errorf("restoring with its key added an event: the session ends at %d, want 2", last)
	}
}

func keyTaken(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Key: "k"}), fixture.User("x"))
	t.Bin("a")
	t.Add("b", fixture.Created(), fixture.User("x"))
	t.Add("b", fixture.Changed(skein.Changed{Key: fixture.Ptr("k")}))
	t.Restore("a")
	s := t.Session("a")
	if s.Key != "" || s.Binned != 0 || s.Last != 3 {
		t.Errorf("Session = key %q, binned %v, last %d, want no key, not binned, and an event that says so", s.Key, s.Binned, s.Last)
	}
	e := t.Events("a")[2]
	c, err := skein.Decode[skein.Changed](e)
	if e.Kind != skein.KindChanged || err != nil || c.Key == nil || *c.Key != "" {
		t.Errorf("the event is %s %s, want a changed one that takes the key away", e.Kind, e.Payload)
	}
	harness.Equal(t, "Sessions with the key", t.IDs(skein.Filter{Key: "k"}), []skein.SessionID{"b"})
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.Changed(skein.Changed{Key: fixture.Ptr("k")})}}, skein.ErrExists)
	t.Add("b", fixture.Changed(skein.Changed{Key: fixture.Ptr("")}))
	t.Add("a", fixture.Changed(skein.Changed{Key: fixture.Ptr("k")}))
}

func appendToBinned(t *harness.Test) {
	t.Full("a", "needle")
	t.Bin("a")
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("more needle")}, Import: &skein.Import{
		File: skein.SourceFile{Format: "codex", Path: "/x/a", Session: "a"}, Records: []skein.Record{{N: 2, Raw: []byte("x")}},
	}})
	t.WantEnd("a", 8)
	if t.Session("a").Binned == 0 {
		t.Error("an append took the session out of the bin")
	}
	t.WantFound("more")
	t.Add("f", fixture.Fork("a", 2), fixture.User("own"))
	harness.Equal(t, "Sessions", t.IDs(skein.Filter{}), []skein.SessionID{"f"})
	t.WantFound("session:f needle", harness.At("f", 2))
	t.Restore("a")
	t.WantFound("more", harness.At("a", 8))
}

func nothingGoes(t *harness.Test) {
	old := fixture.Created()
	old.Time = 1000 // 1970
	m := fixture.User("ancient")
	m.Time = 2000
	t.Add("a", old, m)
	t.Bin("a")
	for range 5 {
		t.Append(skein.Batch{Session: "b", Events: []skein.Event{fixture.Created()}, Again: true})
		t.Delete("b")
	}
	t.Restore("a")
	t.WantEnd("a", 2)
	t.WantFound("ancient", harness.At("a", 2))
}
