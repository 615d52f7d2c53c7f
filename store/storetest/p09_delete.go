package storetest

import (
	"context"
	"fmt"

	"github.com/skein-dev/skein"
)

func deletion() []check {
	return []check{
		{name: "nothing is found any more", run: nothingFound},
		{name: "the key is free", run: keyFree},
		{name: "no late write brings it back, an import only again", run: tombstone},
		{name: "an origin is not imported under another ID either", run: originTombstone},
		{name: "a file that only copied it does not bring it back", run: copyTombstone},
		{name: "children are kept, binned, or a reason to refuse", run: children},
		{name: "not while somebody holds the lease", run: deleteLeased},
		{name: "another session's blob and request stay", run: sharedStays},
		{name: "files of it and copies of it go", run: filesGo},
		{name: "while 16 writers append", run: deleteUnderWriters},
		{name: "another handle sees it gone", two: goneAcross},
	}
}

// wantGone checks that every method reports that there is no such session.
func (t *asker) wantGone(s skein.Store, id skein.SessionID) {
	t.Helper()
	ctx := t.Context()
	_, err := s.Session(ctx, id)
	t.wantErr("Session", err, skein.ErrNotFound)
	t.wantErr("Events", failure(t, s.Events(ctx, id, 0)), skein.ErrNotFound)
	t.wantErr("Watch", failure(t, s.Watch(ctx, id, 0)), skein.ErrNotFound)
	_, err = s.Newest(ctx, id, 5, 0)
	t.wantErr("Newest", err, skein.ErrNotFound)
	_, err = s.Blob(ctx, id, skein.NewBlob(nil).Hash)
	t.wantErr("Blob", err, skein.ErrNotFound)
	t.wantErr("Bin", skein.LifecycleOf(s).Bin(ctx, id), skein.ErrNotFound)
	t.wantErr("Restore", skein.LifecycleOf(s).Restore(ctx, id), skein.ErrNotFound)
	_, err = skein.LifecycleOf(s).Delete(ctx, id, skein.Deletion{})
	t.wantErr("Delete", err, skein.ErrNotFound)
	_, err = skein.LifecycleOf(s).Scrub(ctx, id, []string{"secret"})
	t.wantErr("Scrub", err, skein.ErrNotFound)
	_, err = skein.LifecycleOf(s).Size(ctx, id)
	t.wantErr("Size", err, skein.ErrNotFound)
	for _, f := range []skein.Filter{{IncludeEmpty: true}, {IncludeEmpty: true, Bin: true}} {
		for _, sess := range all(t, s.Sessions(ctx, f)) {
			if sess.ID == id {
				t.Errorf("Sessions(%+v) yields %s", f, id)
			}
		}
	}
	r, err := s.Search(ctx, skein.Query{Session: id, Substring: "e", Deadline: patience})
	if err != nil || len(r.Hits) > 0 {
		t.Errorf("Search in session %s = %+v, %v, want nothing", id, r, err)
	}
	rows, err := s.Usage(ctx, skein.UsageQuery{By: skein.BySession, Sessions: []skein.SessionID{id}})
	if err != nil || len(rows) > 0 {
		t.Errorf("Usage of session %s = %+v, %v, want nothing", id, rows, err)
	}
}

// full appends a session that has data in every table.
func (t *asker) full(id skein.SessionID, word string) (skein.Blob, *skein.Import) {
	t.Helper()
	blob := skein.NewBlob([]byte("picture of " + word))
	im := &skein.Import{
		File:    skein.SourceFile{Format: "codex", Path: "/x/" + string(id), Session: id, Records: 2, Offset: 10},
		Records: []skein.Record{{N: 0, Raw: []byte(word + "\n"), Key: skein.ClientID(id) + "-1", Events: 1}, {N: 1, Offset: 5, Raw: []byte("x")}},
	}
	evs := []skein.Event{
		begin(skein.Created{Key: "key-" + string(id), Title: word, Origin: &skein.Origin{Format: "codex", Path: "/x/" + string(id), ID: "o"}}),
		{Kind: skein.KindSaid, Time: noon, ClientID: skein.ClientID(id) + "-1", Payload: user(word).Payload},
		shows(word+".png", blob),
		paid("request-"+string(id), noon, "m", skein.Usage{Output: 7}),
		titled(word),
	}
	evs = append(evs, ran("tool-"+word, "c1", `{"path":"/`+word+`"}`, word)...)
	t.append(skein.Batch{Session: id, Events: evs, Blobs: []skein.Blob{blob}, Import: im})
	return blob, im
}

func nothingFound(t *test) {
	blob, im := t.full("a", "needle")
	t.full("b", "other")
	if n := len(t.find("needle")); n == 0 {
		t.Fatal("Search does not find what is there")
	}
	d := t.delete("a")
	if d.Events != 7 || len(d.Moved)+len(d.Binned)+len(d.Children) != 0 || d.Bytes <= 0 {
		t.Errorf("Delete = %+v, want 7 events and some bytes", d)
	}
	t.wantGone(t.s, "a")
	t.wantFound("needle")
	for _, q := range []skein.Query{{Tool: "tool-needle"}, {Path: "needle"}, {Substring: "eedl"}, {Regex: "need.e"}} {
		q.Each = true
		if hits := t.search(q); len(hits) > 0 {
			t.Errorf("Search(%+v) = %+v, want nothing", q, hits)
		}
	}
	_, err := t.s.Blob(t.Context(), "b", blob.Hash)
	t.wantErr("Blob through another session", err, skein.ErrNotFound)
	t.refused(skein.Batch{Session: "b", Events: []skein.Event{shows("needle.png", blob)}}, skein.ErrInvalid)
	_, err = skein.SourcesOf(t.s).File(t.Context(), "codex", im.File.Path)
	t.wantErr("File", err, skein.ErrNotFound)
	t.wantErr("Records", failure(t, skein.SourcesOf(t.s).Records(t.Context(), "codex", im.File.Path, 0)), skein.ErrNotFound)
	if files := all(t, skein.SourcesOf(t.s).Files(t.Context(), "")); len(files) != 1 || files[0].Session != "b" {
		t.Errorf("Files yields %+v, want that of b", files)
	}
	found, err := skein.SourcesOf(t.s).Find(t.Context(), []skein.ClientID{"a-1", "b-1"})
	if err != nil || len(found) != 1 || found["b-1"] != at("b", 2) {
		t.Errorf("Find = %v, %v, want what is in b", found, err)
	}
	equal(t, "Usage", t.total(skein.UsageQuery{}), skein.Usage{Output: 7, Requests: 1})
	t.wantEnd("b", 7)
}

func keyFree(t *test) {
	t.add("a", begin(skein.Created{Key: "k"}))
	t.refused(skein.Batch{Session: "b", Events: []skein.Event{begin(skein.Created{Key: "k"})}}, skein.ErrExists)
	t.delete("a")
	t.add("b", begin(skein.Created{Key: "k"}))
	equal(t, "Sessions with the key", t.ids(skein.Filter{Key: "k", IncludeEmpty: true}), []skein.SessionID{"b"})
}

func sharedStays(t *test) {
	blob := skein.NewBlob([]byte("shared"))
	for _, id := range []skein.SessionID{"a", "b"} {
		t.append(skein.Batch{Session: id, Events: []skein.Event{created(), shows("x.png", blob)}, Blobs: []skein.Blob{blob}})
	}
	t.add("a", paid("r", noon, "m", skein.Usage{Output: 3}))
	t.add("b", paid("r", noon, "m", skein.Usage{Output: 5})) // 2 more
	t.delete("a")
	data, err := t.s.Blob(t.Context(), "b", blob.Hash)
	if err != nil || string(data) != "shared" {
		t.Errorf("Blob = %q, %v, want the bytes", data, err)
	}
	if got := t.total(skein.UsageQuery{}).Output; got != 2 {
		t.Errorf("usage is %d, want the 2 that b added", got)
	}
	t.delete("b")
	equal(t, "Usage", t.usage(skein.UsageQuery{}), []skein.UsageRow{})
	t.add("c", created())
	t.refused(skein.Batch{Session: "c", Events: []skein.Event{shows("x.png", blob)}}, skein.ErrInvalid)
	t.add("c", paid("r", noon, "m", skein.Usage{Output: 5}))
	if got := t.total(skein.UsageQuery{}).Output; got != 5 {
		t.Errorf("usage of a request that only deleted sessions had is %d, want 5", got)
	}
}

func filesGo(t *test) {
	t.full("a", "needle")
	t.full("b", "other")
	t.append(skein.Batch{Session: "a", Import: &skein.Import{
		File:    skein.SourceFile{Format: "codex", Path: "/copy", CopyOf: "a"},
		Records: []skein.Record{{Raw: []byte("needle"), Copy: true}},
	}})
	t.append(skein.Batch{Import: &skein.Import{
		File: skein.SourceFile{Format: "codex", Path: "/damaged"}, Records: []skein.Record{{Raw: []byte("?"), Damage: "torn"}},
	}})
	t.delete("a")
	var paths []string
	for _, f := range all(t, skein.SourcesOf(t.s).Files(t.Context(), "codex")) {
		paths = append(paths, f.Path)
	}
	equal(t, "Files", paths, []string{"/damaged", "/x/b"})
}

func deleteUnderWriters(t *test) {
	t.add("a", created())
	everyone(16, func(w int) {
		for i := range 10 {
			if w == 0 && i == 5 {
				if _, err := skein.LifecycleOf(t.s).Delete(context.Background(), "a", skein.Deletion{}); err != nil {
					t.Errorf("Delete = %v", err)
				}
			}
			_, _ = skein.Add(context.Background(), t.s, "a", user(fmt.Sprint("needle ", w, " ", i)))
		}
	})
	t.wantGone(t.s, "a")
	t.wantFound("needle")
}

func goneAcross(t *test, other skein.Store) {
	t.full("a", "needle")
	wantEnd(t, other, "a", 7)
	t.delete("a")
	t.wantGone(other, "a")
	_, err := skein.Add(t.Context(), other, "a", user("late"))
	t.wantErr("Append at the other handle", err, skein.ErrDeleted)
	r, err := other.Search(t.Context(), skein.Query{Substring: "needle", Deadline: patience})
	if err != nil || len(r.Hits) > 0 {
		t.Errorf("Search at the other handle = %+v, %v, want nothing", r, err)
	}
}
