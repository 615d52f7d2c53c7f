package storetest

import (
	"fmt"
	"slices"

	"github.com/skein-dev/skein"
)

func sources() []check {
	return []check{
		{name: "records and files come back exactly", run: recordsExact},
		{name: "in pieces as at once", run: recordsInPieces},
		{name: "replaced and forgotten", run: recordsReplaced},
		{name: "what cannot be stored takes the events with it", run: badImports},
		{name: "with the events, all or none", run: importWithEvents},
		{name: "a file without a session", run: fileAlone},
		{name: "Find gives the first that came from an import", run: findFirst},
		{name: "files by path", run: filesInOrder},
		{name: "files by a part of their ID", run: filesNamed},
		{name: "copies and long lines", run: copies},
		{name: "16 importers", run: importers},
	}
}

// lines returns records with odd bytes, numbered from n, from an offset on.
func lines(n int, offset int64, raws ...string) (rs []skein.Record) {
	for i, raw := range raws {
		rs = append(rs, skein.Record{N: n + i, Offset: offset, Raw: []byte(raw), Key: skein.ClientID(fmt.Sprint("k", n+i)), Events: 1})
		offset += int64(len(raw))
	}
	return rs
}

var oddLines = []string{
	"{\"a\":1}\n", "{\"a\":2}\r\n", "\n", "\xef\xbb\xbf{}\n", "torn {\"a", "\x00\x00\x00\n", "\xff\xfe\n", "\u2028\n", "",
	"{\"text\":\"\\ud800\"}\n", "last line without an end",
}

func (t *asker) records(format, path string, n int) []skein.Record {
	t.Helper()
	return all(t, skein.SourcesOf(t.s).Records(t.Context(), format, path, n))
}

func recordsExact(t *test) {
	rs := lines(0, 0, oddLines...)
	rs[4].Damage, rs[4].Key, rs[4].Events = "torn at byte 9: \"x\"", "", 0
	rs[1].Copy, rs[1].Events = true, 3
	f := skein.SourceFile{
		Format: "claude-code", Path: "/home/x/é 'q'\".jsonl", Session: "a", ID: "their-id", CopyOf: "z", Size: 1 << 40, Mtime: 1777896000123456789,
		Inode: 1<<64 - 1, Offset: 12345, Records: len(rs), Damaged: 1, Head: skein.NewBlob(nil).Hash, State: []byte("\x00state\xff"),
	}
	_, err := skein.SourcesOf(t.s).File(t.Context(), f.Format, f.Path)
	t.wantErr("File before it was read", err, skein.ErrNotFound)
	t.append(skein.Batch{Session: "a", Events: []skein.Event{created()}, Import: &skein.Import{File: f, Records: rs}})
	got, err := skein.SourcesOf(t.s).File(t.Context(), f.Format, f.Path)
	t.noErr("File", err)
	equal(t, "File", got, f)
	equal(t, "Files", all(t, skein.SourcesOf(t.s).Files(t.Context(), "")), []skein.SourceFile{f})
	for n := -1; n <= len(rs)+1; n++ {
		equal(t, fmt.Sprint("Records from ", n), t.records(f.Format, f.Path, n), rs[min(max(n, 0), len(rs)):])
	}
	t.wantErr("Records of another format", failure(t, skein.SourcesOf(t.s).Records(t.Context(), "codex", f.Path, 0)), skein.ErrNotFound)
	_, err = skein.SourcesOf(t.s).File(t.Context(), "codex", f.Path)
	t.wantErr("File of another format", err, skein.ErrNotFound)
	t.wantEnd("a", 1)
}

func recordsInPieces(t *test) {
	rs := lines(0, 0, oddLines...)
	t.add("a", created())
	for i, r := range rs {
		f := skein.SourceFile{Format: "f", Path: "/pieces", Session: "a", Offset: r.Offset + int64(len(r.Raw)), Records: i + 1}
		receipt := t.append(skein.Batch{Session: "a", Import: &skein.Import{File: f, Records: rs[i : i+1]}})
		if receipt.Last != 1 || receipt.New != 0 {
			t.Errorf("Append of records only = %+v, want the end 1 and nothing new", receipt)
		}
	}
	equal(t, "Records", t.records("f", "/pieces", 0), rs)
	f, err := skein.SourcesOf(t.s).File(t.Context(), "f", "/pieces")
	if err != nil || f.Records != len(rs) {
		t.Errorf("File = %+v, %v", f, err)
	}
}

func recordsReplaced(t *test) {
	t.add("a", created())
	send := func(forget bool, rs ...skein.Record) {
		t.Helper()
		im := &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p", Session: "a"}, Records: rs, Forget: forget}
		t.append(skein.Batch{Session: "a", Import: im})
	}
	want := lines(0, 0, "one\n", "two\n", "three\n", "torn")
	send(false, want...)
	want = append(want[:3], lines(3, 14, "torn no more\n", "five\n")...) // the torn line was completed
	send(false, want[3:]...)
	equal(t, "Records after one was replaced", t.records("f", "/p", 0), want)
	want[1].Raw = []byte("TWO\n")
	send(false, want[1])
	equal(t, "Records after one in the middle was replaced", t.records("f", "/p", 0), want)
	want = append(slices.Clone(want[:2]), lines(2, 8, "new three\n")...)
	send(true, want[2:]...)
	equal(t, "Records after the file was rewritten from 2", t.records("f", "/p", 0), want)
	send(true)
	equal(t, "Records after all was forgotten", t.records("f", "/p", 0), nil)
	want = lines(0, 0, "anew\n")
	send(true, want...)
	equal(t, "Records of the new file", t.records("f", "/p", 0), want)
}

func badImports(t *test) {
	t.add("a", created())
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
		t.refused(skein.Batch{Session: "a", Events: []skein.Event{user("unstored")}, Import: &im}, skein.ErrInvalid)
	}
	equal(t, "Files", all(t, skein.SourcesOf(t.s).Files(t.Context(), "")), nil)
	t.refused(skein.Batch{Session: "nobody", Import: &skein.Import{File: good}}, skein.ErrNotFound)
	t.wantFound("unstored")
}

func importWithEvents(t *test) {
	t.add("a", created(), id("k0", user("x")))
	im := &skein.Import{File: skein.SourceFile{Format: "f", Path: "/p", Session: "a", Offset: 4}, Records: lines(0, 0, "one\n")}
	t.refused(skein.Batch{Session: "a", Events: []skein.Event{id("k0", user("other"))}, Import: im}, skein.ErrMismatch)
	t.refused(skein.Batch{Session: "a", After: 1, Events: []skein.Event{user("y")}, Import: im}, skein.ErrConflict)
	_, err := skein.SourcesOf(t.s).File(t.Context(), "f", "/p")
	t.wantErr("File after a batch that was refused", err, skein.ErrNotFound)
	// Stored records are skipped; the read position of the file is still
	// stored.
	r := t.append(skein.Batch{Session: "a", After: skein.Fresh, Fence: 9, Events: []skein.Event{id("k0", user("x"))}, Import: im})
	if r.New != 0 || r.Seqs[0] != 2 {
		t.Errorf("Append = %+v, want nothing new", r)
	}
	f, err := skein.SourcesOf(t.s).File(t.Context(), "f", "/p")
	if err != nil || f.Offset != 4 {
		t.Errorf("File = %+v, %v, want the offset 4", f, err)
	}
}

func fileAlone(t *test) {
	f := skein.SourceFile{Format: "f", Path: "/damaged", Damaged: 1, Records: 1}
	rs := []skein.Record{{Raw: []byte("??"), Damage: "no JSON"}}
	r, err := t.s.Append(t.Context(), skein.Batch{Import: &skein.Import{File: f, Records: rs}})
	if err != nil || len(r) != 1 || r[0].Session != "" || r[0].Last != 0 {
		t.Fatalf("Append of a file without a session = %+v, %v", r, err)
	}
	equal(t, "Records", t.records("f", "/damaged", 0), rs)
	t.add("a", created())
	f.Session = "a"
	t.append(skein.Batch{Session: "a", Import: &skein.Import{File: f, Records: lines(1, 2, "good\n")}})
	equal(t, "Records", t.records("f", "/damaged", 0), append(rs, lines(1, 2, "good\n")...))
	t.delete("a")
	equal(t, "Files after the session that it got was deleted", all(t, skein.SourcesOf(t.s).Files(t.Context(), "")), nil)
}
