package appends

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func findFirst(t *harness.Test) {
	im := func(id skein.SessionID) *skein.Import {
		return &skein.Import{File: skein.SourceFile{Format: "f", Path: "/" + string(id), Session: id}}
	}
	t.Append(skein.Batch{Session: "b", Events: []skein.Event{fixture.ID("created", fixture.Created()), fixture.ID("1", fixture.User("x")), fixture.ID("2/0", fixture.User("y"))}, Import: im("b")})
	t.Append(skein.Batch{Session: "a", Events: []skein.Event{fixture.ID("created", fixture.Created()), fixture.ID("1", fixture.User("x")), fixture.ID("3", fixture.User("z"))}, Import: im("a")})
	t.Add("c", fixture.Created(), fixture.ID("4", fixture.User("by hand")))
	want := map[skein.ClientID]skein.Place{"1": harness.At("b", 2), "2/0": harness.At("b", 3), "3": harness.At("a", 3), "created": harness.At("b", 1)}
	keys := []skein.ClientID{"1", "2/0", "3", "4", "5", "", "1", "created", "%", "2"}
	got, err := skein.SourcesOf(t.Store).Find(t.Context(), keys)
	t.NoErr("Find", err)
	harness.Equal(t, "Find", got, want)
	many := slices.Repeat(keys, 500)
	for i := range many {
		if many[i] == "5" {
			many[i] = skein.ClientID(fmt.Sprint("none", i))
		}
	}
	got, err = skein.SourcesOf(t.Store).Find(t.Context(), many)
	t.NoErr("Find of many", err)
	harness.Equal(t, "Find of many", got, want)
	got, err = skein.SourcesOf(t.Store).Find(t.Context(), nil)
	if err != nil || len(got) != 0 {
		t.Errorf("Find of nothing = %v, %v", got, err)
	}
	t.Add("f", fixture.Fork("b", 2))
	t.Delete("b")
	got, err = skein.SourcesOf(t.Store).Find(t.Context(), keys)
	t.NoErr("Find", err)
	harness.Equal(t, "Find after b was deleted, of which f shows some", got, map[skein.ClientID]skein.Place{"1": harness.At("f", 2), "3": harness.At("a", 3), "created": harness.At("f", 1)})
}

func filesInOrder(t *harness.Test) {
	t.Add("a", fixture.Created())
	for _, p := range []string{"/b", "/a", "/c", "/B"} {
		for _, format := range []string{"y", "x"} {
			t.Append(skein.Batch{Session: "a", Import: &skein.Import{File: skein.SourceFile{Format: format, Path: p}}})
		}
	}
	var got []string
	for _, f := range harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "x")) {
		got = append(got, f.Path)
	}
	harness.Equal(t, "Files of x", got, []string{"/B", "/a", "/b", "/c"})
	got = nil
	for _, f := range harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "")) {
		got = append(got, f.Path)
	}
	harness.Equal(t, "Files", got, []string{"/B", "/B", "/a", "/a", "/b", "/b", "/c", "/c"})
	harness.Equal(t, "Files of an unknown format", harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "z")), nil)
}

func filesNamed(t *harness.Test) {
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
			b.Events = []skein.Event{fixture.Created()}
		}
		t.Append(b)
	}
	for part, want := range map[string][]string{"abcd": {"/other", "/z"}, "abcd-own": nil, "copy": {"/z"}, "%": nil, "ABCD": nil} {
		var got []string
		for _, f := range harness.All(t, skein.SourcesOf(t.Store).FilesNamed(t.Context(), part)) {
			got = append(got, f.Path)
		}
		harness.Equal(t, "FilesNamed "+part, got, want)
	}
}

// copies stores two files, one of which repeats the other's records, to check
// that a store that compresses one with the other's help can decompress it.
func copies(t *harness.Test) {
	r := rand.New(rand.NewPCG(7, 8))
	var raws []string
	var evs []skein.Event
	for i := range 30 {
		text := fmt.Sprint("message ", i, " ")
		for range r.IntN(400) {
			text += string("etaoin shrdlu"[r.IntN(13)])
		}
		raws = append(raws, fmt.Sprintf(`{"uuid":"%d","text":%q}`+"\n", i, text))
		evs = append(evs, fixture.ID(fmt.Sprint("k", i), fixture.User(text)))
	}
	raws = append(raws, fmt.Sprintf("%01048576d\n", 7))
	rs := fixture.Lines(0, 0, raws...)
	for i := 0; i < len(evs); i += 7 {
		n := min(i+7, len(evs))
		first := []skein.Event{}
		if i == 0 {
			first = append(first, fixture.Created())
		}
		t.Append(skein.Batch{Session: "a", Events: append(first, evs[i:n]...), Import: &skein.Import{
			File: skein.SourceFile{Format: "f", Path: "/a", Session: "a"}, Records: rs[i:n],
		}})
	}
	t.Append(skein.Batch{Session: "a", Import: &skein.Import{File: skein.SourceFile{Format: "f", Path: "/a", Session: "a"}, Records: rs[30:]}})
	again := slices.Clone(rs)
	for i := range again {
		again[i].Copy = true
		again[i].Raw = append([]byte(" "), rs[i].Raw...)
	}
	t.Append(skein.Batch{Session: "b", Events: []skein.Event{fixture.Fork("a", 20), fixture.User("own")}, Import: &skein.Import{
		File: skein.SourceFile{Format: "f", Path: "/b", Session: "b"}, Records: again,
	}})
	harness.Equal(t, "Records of the first", t.Records("f", "/a", 0), rs)
	harness.Equal(t, "Records of the copy", t.Records("f", "/b", 0), again)
	t.Delete("a")
	harness.Equal(t, "Records of the copy after the first was deleted", t.Records("f", "/b", 0), again)
	harness.Equal(t, "Records of the copy from 25", t.Records("f", "/b", 25), again[25:])
}

func importers(t *harness.Test) {
	harness.Everyone(16, func(w int) {
		name := skein.SessionID(fmt.Sprint("s", w))
		if _, err := skein.Add(context.Background(), t.Store, name, fixture.Created()); err != nil {
			t.Errorf("Append = %v", err)
		}
		for i := range 10 {
			e := fixture.ID(fmt.Sprint("k", w, "-", i), fixture.User("imported"))
			_, err := t.Store.Append(context.Background(), skein.Batch{Session: name, Events: []skein.Event{e}, Import: &skein.Import{
				File:    skein.SourceFile{Format: "f", Path: "/" + string(name), Session: name, Records: i + 1},
				Records: fixture.Lines(i, int64(i)*5, "line\n"),
			}})
			if err != nil {
				t.Errorf("Append = %v", err)
			}
		}
	})
	files := harness.All(t, skein.SourcesOf(t.Store).Files(t.Context(), "f"))
	if len(files) != 16 {
		t.Errorf("%d files, want 16", len(files))
	}
	for _, f := range files {
		if n := len(t.Records("f", f.Path, 0)); n != 10 || f.Records != 10 {
			t.Errorf("%s has %d records and says %d, want 10", f.Path, n, f.Records)
		}
	}
}
