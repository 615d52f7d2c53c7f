package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/skein-dev/skein"
)

func findFirst(t *test) {
	im := func(id skein.SessionID) *skein.Import {
		return &skein.Import{File: skein.SourceFile{Format: "f", Path: "/" + string(id), Session: id}}
	}
	t.append(skein.Batch{Session: "b", Events: []skein.Event{id("created", created()), id("1", user("x")), id("2/0", user("y"))}, Import: im("b")})
	t.append(skein.Batch{Session: "a", Events: []skein.Event{id("created", created()), id("1", user("x")), id("3", user("z"))}, Import: im("a")})
	t.add("c", created(), id("4", user("by hand")))
	want := map[skein.ClientID]skein.Place{"1": at("b", 2), "2/0": at("b", 3), "3": at("a", 3), "created": at("b", 1)}
	keys := []skein.ClientID{"1", "2/0", "3", "4", "5", "", "1", "created", "%", "2"}
	got, err := skein.SourcesOf(t.s).Find(t.Context(), keys)
	t.noErr("Find", err)
	equal(t, "Find", got, want)
	many := slices.Repeat(keys, 500)
	for i := range many {
		if many[i] == "5" {
			many[i] = skein.ClientID(fmt.Sprint("none", i))
		}
	}
	got, err = skein.SourcesOf(t.s).Find(t.Context(), many)
	t.noErr("Find of many", err)
	equal(t, "Find of many", got, want)
	got, err = skein.SourcesOf(t.s).Find(t.Context(), nil)
	if err != nil || len(got) != 0 {
		t.Errorf("Find of nothing = %v, %v", got, err)
	}
	t.add("f", fork("b", 2))
	t.delete("b")
	got, err = skein.SourcesOf(t.s).Find(t.Context(), keys)
	t.noErr("Find", err)
	equal(t, "Find after b was deleted, of which f shows some", got, map[skein.ClientID]skein.Place{"1": at("f", 2), "3": at("a", 3), "created": at("f", 1)})
}

func filesInOrder(t *test) {
	t.add("a", created())
	for _, p := range []string{"/b", "/a", "/c", "/B"} {
		for _, format := range []string{"y", "x"} {
			t.append(skein.Batch{Session: "a", Import: &skein.Import{File: skein.SourceFile{Format: format, Path: p}}})
		}
	}
	var got []string
	for _, f := range all(t, skein.SourcesOf(t.s).Files(t.Context(), "x")) {
		got = append(got, f.Path)
	}
	equal(t, "Files of x", got, []string{"/B", "/a", "/b", "/c"})
	got = nil
	for _, f := range all(t, skein.SourcesOf(t.s).Files(t.Context(), "")) {
		got = append(got, f.Path)
	}
	equal(t, "Files", got, []string{"/B", "/B", "/a", "/a", "/b", "/b", "/c", "/c"})
	equal(t, "Files of an unknown format", all(t, skein.SourcesOf(t.s).Files(t.Context(), "z")), nil)
}

func filesNamed(t *test) {
	for i, f := range []skein.SourceFile{
		{Path: "/own", Session: "abcd-own", ID: "abcd-own"},
		{Path: "/z", CopyOf: "abcd-own", ID: "abcd-copy"},
		{Path: "/other", Session: "renamed", ID: "other-abcd"},
		{Path: "/middle", CopyOf: "abcd-own", ID: "in-abcd-between"},
		{Path: "/none", CopyOf: "abcd-own"},
	} {
		f.Format = fmt.Sprint("f", i)
		b := skein.Batch{Session: f.Session, Import: &skein.Import{File: f}}
		if f.Session != "" {
			b.Events = []skein.Event{created()}
		}
		t.append(b)
	}
	for part, want := range map[string][]string{"abcd": {"/other", "/z"}, "abcd-own": nil, "copy": {"/z"}, "%": nil, "ABCD": nil} {
		var got []string
		for _, f := range all(t, skein.SourcesOf(t.s).FilesNamed(t.Context(), part)) {
			got = append(got, f.Path)
		}
		equal(t, "FilesNamed "+part, got, want)
	}
}

// copies stores two files, one of which repeats the other's records, to check
// that a store that compresses one with the other's help can decompress it.
func copies(t *test) {
	r := rand.New(rand.NewPCG(7, 8))
	var raws []string
	var evs []skein.Event
	for i := range 30 {
		text := fmt.Sprint("message ", i, " ")
		for range r.IntN(400) {
			text += string("etaoin shrdlu"[r.IntN(13)])
		}
		raws = append(raws, fmt.Sprintf(`{"uuid":"%d","text":%q}`+"\n", i, text))
		evs = append(evs, id(fmt.Sprint("k", i), user(text)))
	}
	raws = append(raws, fmt.Sprintf("%01048576d\n", 7))
	rs := lines(0, 0, raws...)
	for i := 0; i < len(evs); i += 7 {
		n := min(i+7, len(evs))
		first := []skein.Event{}
		if i == 0 {
			first = append(first, created())
		}
		t.append(skein.Batch{Session: "a", Events: append(first, evs[i:n]...), Import: &skein.Import{
			File: skein.SourceFile{Format: "f", Path: "/a", Session: "a"}, Records: rs[i:n],
		}})
	}
	t.append(skein.Batch{Session: "a", Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/a", Session: "a"}, Records: rs[30:]}})
	again := slices.Clone(rs)
	for i := range again {
		again[i].Copy = true
		again[i].Raw = append([]byte(" "), rs[i].Raw...)
	}
	t.append(skein.Batch{Session: "b", Events: []skein.Event{fork("a", 20), user("own")}, Import: &skein.Import{
		File: skein.SourceFile{Format: "f", Path: "/b", Session: "b"}, Records: again,
	}})
	equal(t, "Records of the first", t.records("f", "/a", 0), rs)
	equal(t, "Records of the copy", t.records("f", "/b", 0), again)
	t.delete("a")
	equal(t, "Records of the copy after the first was deleted", t.records("f", "/b", 0), again)
	equal(t, "Records of the copy from 25", t.records("f", "/b", 25), again[25:])
}

func importers(t *test) {
	everyone(16, func(w int) {
		name := skein.SessionID(fmt.Sprint("s", w))
		if _, err := skein.Add(context.Background(), t.s, name, created()); err != nil {
			t.Errorf("Append = %v", err)
		}
		for i := range 10 {
			e := id(fmt.Sprint("k", w, "-", i), user("imported"))
			_, err := t.s.Append(context.Background(), skein.Batch{Session: name, Events: []skein.Event{e}, Import: &skein.Import{
				File:    skein.SourceFile{Format: "f", Path: "/" + string(name), Session: name, Records: i + 1},
				Records: lines(i, int64(i)*5, "line\n"),
			}})
			if err != nil {
				t.Errorf("Append = %v", err)
			}
		}
	})
	files := all(t, skein.SourcesOf(t.s).Files(t.Context(), "f"))
	if len(files) != 16 {
		t.Errorf("%d files, want 16", len(files))
	}
	for _, f := range files {
		if n := len(t.records("f", f.Path, 0)); n != 10 || f.Records != 10 {
			t.Errorf("%s has %d records and says %d, want 10", f.Path, n, f.Records)
		}
	}
}
