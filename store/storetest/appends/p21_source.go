package appends

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func sources() []harness.Check {
	return []harness.Check{
		{Name: "records and files come back exactly", Run: recordsExact},
		{Name: "in pieces as at once", Run: recordsInPieces},
		{Name: "replaced and forgotten", Run: recordsReplaced},
		{Name: "what cannot be stored takes the events with it", Run: badImports},
		{Name: "with the events, all or none", Run: importWithEvents},
		{Name: "a file without a session", Run: fileAlone},
		{Name: "Find gives the first that came from an import", Run: findFirst},
		{Name: "files by path", Run: filesInOrder},
		{Name: "files by a part of their ID", Run: filesNamed},
		{Name: "copies and long lines", Run: copies},
		{Name: "16 importers", Run: importers},
	}
}

var oddLines = []string{
	"{\"a\":1}\n", "{\"a\":2}\r\n", "\n", "\xef\xbb\xbf{}\n", "torn {\"a", "\x00\x00\x00\n", "\xff\xfe\n", "\u2028\n", "",
	"{\"text\":\"\\ud800\"}\n", "last line without an end",
}

func recordsExact(t *harness.Test) {
	rs := fixture.Lines(0, 0, oddLines...)
	rs[4].Damage, rs[4].Key, rs[4].Events = "torn at byte 9: \"x\"", "", 0
	rs[1].Copy, rs[1].Events = true, 3
	f := skein.SourceFile{
		Format: "claude-code", Path: "/home/x/é 'q'\".jsonl", Session: "a", ID: "their-id", CopyOf: "z", Size: 1 << 40, Mtime: 1777896000123456789,
		Inode: 1<<64 - 1, Offset: 12345, Records: len(rs), Damaged: 1, Head: skein.NewBlob(nil).Hash, State: []byte("\x00state\xff"),
	}
	_, err := skein.SourcesOf(t.Store).File(t.Context(), f.Format, f.Path)
	t.WantErr("File before it was read", err, skein.ErrNotFound)
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.Created()}, Import: &skein.Import{File: f, Records: rs}})
	got, err := skein.SourcesOf(t.Store).File(t.Context(), f.Format, f.Path)
	t.NoErr("File", err)
	harness.Equal(t, "File", got, f)
	harness.Equal(t, "Files", harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")), []skein.SourceFile{f})
	for n := -1; n <= len(rs)+1; n++ {
		harness.Equal(t, fmt.Sprint("Records from ", n), t.Records(f.Format, f.Path, n), rs[min(max(n, 0), len(rs)):])
	}
	t.WantErr("Records of another format", harness.Failure(t, skein.SourcesOf(t.Store).Records(t.Context(), "codex", f.Path, 0)), skein.ErrNotFound)
	_, err = skein.SourcesOf(t.Store).File(t.Context(), "codex", f.Path)
	t.WantErr("File of another format", err, skein.ErrNotFound)
	t.WantEnd("a", 1)
}

func recordsInPieces(t *harness.Test) {
	rs := fixture.Lines(0, 0, oddLines...)
	t.Add("a", fixture.Created())
	for i, r := range rs {
		f := skein.SourceFile{Format: "f", Path: "/pieces", Session: "a", Offset: r.Offset + int64(len(r.Raw)), Records: i + 1}
		receipt := t.Append(skein.Batch{Session: "a", Import: &skein.Import{File: f, Records: rs[i : i+1]}})
		if receipt.Last != 1 || receipt.New != 0 {
			t.Errorf("Append of records only = %+v, want the end 1 and nothing new", receipt)
		}
	}
	harness.Equal(t, "Records", t.Records("f", "/pieces", 0), rs)
	f, err := skein.SourcesOf(t.Store).File(t.Context(), "f", "/pieces")
	if err != nil || f.Records != len(rs) {
		t.Errorf("File = %+v, %v", f, err)
	}
}

func recordsReplaced(t *harness.Test) {
	t.Add("a", fixture.Created())
	send := func(forget bool, rs ...skein.Record) {
		t.Helper()
		im := &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p", Session: "a"}, Records: rs, Forget: forget}
		t.Append(skein.Batch{Session: "a", Import: im})
	}
	want := fixture.Lines(0, 0, "one\n", "two\n", "three\n", "torn")
	send(false, want...)
	want = append(want[:3], fixture.Lines(3, 14, "torn no more\n", "five\n")...) // the torn line was completed
	send(false, want[3:]...)
	harness.Equal(t, "Records after one was replaced", t.Records("f", "/p", 0), want)
	want[1].Raw = []byte("TWO\n")
	send(false, want[1])
	harness.Equal(t, "Records after one in the middle was replaced", t.Records("f", "/p", 0), want)
	want = append(slices.Clone(want[:2]), fixture.Lines(2, 8, "new three\n")...)
	send(true, want[2:]...)
	harness.Equal(t, "Records after the file was rewritten from 2", t.Records("f", "/p", 0), want)
	send(true)
	harness.Equal(t, "Records after all was forgotten", t.Records("f", "/p", 0), nil)
	want = fixture.Lines(0, 0, "anew\n")
	send(true, want...)
	harness.Equal(t, "Records of the new file", t.Records("f", "/p", 0), want)
}

func badImports(t *harness.Test) {
	t.Add("a", fixture.Created())
	good := skein.SourceFile{Format: "f", Path: "/p", Session: "a"}
	for name, im := range map[string]skein.Import{
		"no format":        {File: skein.SourceFile{Path: "/p"}},
		"no path":          {File: skein.SourceFile{Format: "f"}},
		"long state":       {File: skein.SourceFile{Format: "f", Path: "/p", State: make([]byte, 1<<20+1)}},
		"gap":              {File: good, Records: []skein.Record{{N: 0}, {N: 2}}},
		"not from 0":       {File: good, Records: []skein.Record{{N: 1}}},
		"negative":         {File: good, Records: []skein.Record{{N: -1}}},
		"out of order":     {File: good, Records: []skein.Record{{N: 1}, {N: 0}}},
		"forget from afar": {File: good, Records: []skein.Record{{N: 3}}, Forget: true},
	} {
		t.Log(name)
		t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.User("unstored")}, Import: &im}, skein.ErrInvalid)
	}
	harness.Equal(t, "Files", harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")), nil)
	t.Refused(skein.Batch{Session: "nobody", Import: &skein.Import{File: good}}, skein.ErrNotFound)
	t.WantFound("unstored")
}

func importWithEvents(t *harness.Test) {
	t.Add("a", fixture.Created(), fixture.ID("k0", fixture.User("x")))
	im := &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p", Session: "a", Offset: 4}, Records: fixture.Lines(0, 0, "one\n")}
	t.Refused(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("k0", fixture.User("other"))}, Import: im}, skein.ErrMismatch)
	t.Refused(skein.Batch{Session: "a", After: 1, Events: []skein.Event{fixture.User("y")}, Import: im}, skein.ErrConflict)
	_, err := skein.SourcesOf(t.Store).File(t.Context(), "f", "/p")
	t.WantErr("File after a batch that was refused", err, skein.ErrNotFound)
	// Stored records are skipped; the read position of the file is still
	// stored.
	r := t.Append(skein.Batch{Session: "a", After: skein.Fresh, Fence: 9, Events: []skein.Event{fixture.ID("k0", fixture.User("x"))}, Import: im})
	if r.New != 0 || r.Seqs[0] != 2 {
		t.Errorf("Append = %+v, want nothing new", r)
	}
	f, err := skein.SourcesOf(t.Store).File(t.Context(), "f", "/p")
	if err != nil || f.Offset != 4 {
		t.Errorf("File = %+v, %v, want the offset 4", f, err)
	}
}

func fileAlone(t *harness.Test) {
	f := skein.SourceFile{Format: "f", Path: "/damaged", Damaged: 1, Records: 1}
	rs := []skein.Record{{Raw: []byte("??"), Damage: "no JSON"}}
	r, err := t.Store.Append(t.Context(), skein.Batch{Import: &skein.Import{File: f, Records: rs}})
	if err != nil || len(r) != 1 || r[0].Session != "" || r[0].Last != 0 {
		t.Fatalf("Append of a file without a session = %+v, %v", r, err)
	}
	harness.Equal(t, "Records", t.Records("f", "/damaged", 0), rs)
	t.Add("a", fixture.Created())
	f.Session = "a"
	t.Append(skein.Batch{Session: "a", Import: &skein.Import{File: f, Records: fixture.Lines(1, 2, "good\n")}})
	harness.Equal(t, "Records", t.Records("f", "/damaged", 0), append(rs, fixture.Lines(1, 2, "good\n")...))
	t.Delete("a")
	harness.Equal(t, "Files after the session that it got was deleted", harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")), nil)
}
