package removal

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func deletion() []harness.Check {
	return []harness.Check{
		{Name: "nothing is found any more", Run: nothingFound},
		{Name: "the key is free", Run: keyFree},
		{Name: "no late write brings it back, an import only again", Run: tombstone},
		{Name: "an origin is not imported under another ID either", Run: originTombstone},
		{Name: "a file that only copied it does not bring it back", Run: copyTombstone},
		{Name: "children are kept, binned, or a reason to refuse", Run: children},
		{Name: "not while somebody holds the lease", Run: deleteLeased},
		{Name: "another session's blob and request stay", Run: sharedStays},
		{Name: "files of it and copies of it go", Run: filesGo},
		{Name: "while 16 writers append", Run: deleteUnderWriters},
		{Name: "another handle sees it gone", Two: goneAcross},
	}
}

func nothingFound(t *harness.Test) {
	blob, im := t.Full("a", "needle")
	t.Full("b", "other")
	if n := len(t.Find("needle")); n == 0 {
		t.Fatal("Search does not find what is there")
	}
	d := t.Delete("a")
	if d.Events != 7 || len(d.Moved)+len(d.Binned)+len(d.Children) != 0 || d.Bytes <= 0 {
		t.Errorf("Delete = %+v, want 7 events and some bytes", d)
	}
	t.WantGone(t.Store, "a")
	t.WantFound("needle")
	for _, q := range []skein.Query{{Tool: "tool-needle"}, {Path: "needle"}, {Substring: "eedl"}, {Regex: "need.e"}} {
		q.Each = true
		if hits := t.Search(q); len(hits) > 0 {
			t.Errorf("Search(%+v) = %+v, want nothing", q, hits)
		}
	}
	_, err := t.Store.Blob(t.Context(), "b", blob.Hash)
	t.WantErr("Blob through another session", err, skein.ErrNotFound)
	t.Refused(skein.Batch{Session: "b", Events: []skein.Event{fixture.Shows("needle.png", blob)}}, skein.ErrInvalid)
	_, err = skein.SourcesOf(t.Store).File(t.Context(), "codex", im.File.Path)
	t.WantErr("File", err, skein.ErrNotFound)
	t.WantErr("Records", harness.Failure(t, skein.SourcesOf(t.Store).Records(t.Context(), "codex", im.File.Path, 0)), skein.ErrNotFound)
	if files := harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")); len(files) != 1 || files[0].Session != "b" {
		t.Errorf("Files yields %+v, want that of b", files)
	}
	found, err := skein.SourcesOf(t.Store).Find(t.Context(), []skein.ClientID{"a-1", "b-1"})
	if err != nil || len(found) != 1 || found["b-1"] != harness.At("b", 2) {
		t.Errorf("Find = %v, %v, want what is in b", found, err)
	}
	harness.Equal(t, "Usage", t.Total(skein.UsageQuery{}), skein.Usage{Output: 7, Requests: 1})
	t.WantEnd("b", 7)
}

func keyFree(t *harness.Test) {
	t.Add("a", fixture.Begin(skein.Created{Key: "k"}))
	t.Refused(skein.Batch{Session: "b", Events: []skein.Event{fixture.Begin(skein.Created{Key: "k"})}}, skein.ErrExists)
	t.Delete("a")
	t.Add("b", fixture.Begin(skein.Created{Key: "k"}))
	harness.Equal(t, "Sessions with the key", t.IDs(skein.Filter{Key: "k", IncludeEmpty: true}), []skein.SessionID{"b"})
}

func sharedStays(t *harness.Test) {
	blob := skein.NewBlob([]byte("shared"))
	for _, id := range []skein.SessionID{"a", "b"} {
		t.Append(skein.Batch{Session: id, Events: []skein.Event{fixture.Created(), fixture.Shows("x.png", blob)}, Blobs: []skein.Blob{blob}})
	}
	t.Add("a", fixture.Paid("r", fixture.Noon, "m", skein.Usage{Output: 3}))
	t.Add("b", fixture.Paid("r", fixture.Noon, "m", skein.Usage{Output: 5})) // 2 more
	t.Delete("a")
	data, err := t.Store.Blob(t.Context(), "b", blob.Hash)
	if err != nil || string(data) != "shared" {
		t.Errorf("Blob = %q, %v, want the bytes", data, err)
	}
	if got := t.Total(skein.UsageQuery{}).Output; got != 2 {
		t.Errorf("usage is %d, want the 2 that b added", got)
	}
	t.Delete("b")
	harness.Equal(t, "Usage", t.Usage(skein.UsageQuery{}), []skein.UsageRow{})
	t.Add("c", fixture.Created())
	t.Refused(skein.Batch{Session: "c", Events: []skein.Event{fixture.Shows("x.png", blob)}}, skein.ErrInvalid)
	t.Add("c", fixture.Paid("r", fixture.Noon, "m", skein.Usage{Output: 5}))
	if got := t.Total(skein.UsageQuery{}).Output; got != 5 {
		t.Errorf("usage of a request that only deleted sessions had is %d, want 5", got)
	}
}

func filesGo(t *harness.Test) {
	t.Full("a", "needle")
	t.Full("b", "other")
	t.Append(skein.Batch{Session: "a", Import: &skein.Import{
		File:    skein.SourceFile{Format: "codex", Path: "/copy", CopyOf: "a"},
		Records: []skein.Record{{Raw: []byte("needle"), Copy: true}},
	}})
	t.Append(skein.Batch{Import: &skein.Import{
		File: skein.SourceFile{Format: "codex", Path: "/damaged"}, Records: []skein.Record{{Raw: []byte("?"), Damage: "torn"}},
	}})
	t.Delete("a")
	var paths []string
	for _, f := range harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "codex")) {
		paths = append(paths, f.Path)
	}
	harness.Equal(t, "Files", paths, []string{"/damaged", "/x/b"})
}

func deleteUnderWriters(t *harness.Test) {
	t.Add("a", fixture.Created())
	harness.Everyone(16, func(w int) {
		for i := range 10 {
			if w == 0 && i == 5 {
				if _, err := skein.LifecycleOf(t.Store).Delete(context.Background(), "a", skein.Deletion{}); err != nil {
					t.Errorf("Delete = %v", err)
				}
			}
			_, _ = skein.Add(context.Background(), t.Store, "a", fixture.User(fmt.Sprint("needle ", w, " ", i)))
		}
	})
	t.WantGone(t.Store, "a")
	t.WantFound("needle")
}

func goneAcross(t *harness.Test, other skein.Store) {
	t.Full("a", "needle")
	harness.WantEnd(t, other, "a", 7)
	t.Delete("a")
	t.WantGone(other, "a")
	_, err := skein.Add(t.Context(), other, "a", fixture.User("late"))
	t.WantErr("Append at the other handle", err, skein.ErrDeleted)
	r, err := other.Search(t.Context(), skein.Query{Substring: "needle", Deadline: harness.Patience})
	if err != nil || len(r.Hits) > 0 {
		t.Errorf("Search at the other handle = %+v, %v, want nothing", r, err)
	}
}
