package interoptest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// writtenAgain checks that a format of folders or databases writes what it read: every
// session of a case is exported to one new place, which must then have the same files,
// with their modes and times, and databases with the same tables.
func (s Suite) writtenAgain(t *testing.T, name string) {
	root := lay(t, filepath.Join(s.Dir, name))
	store := memory.New()
	defer store.Close()
	s.bring(t, store, root)
	s.sameAgain(t, store, root)
}

// sameAgain checks that the units below root are written as they are from store.
func (s Suite) sameAgain(t *testing.T, store *memory.Store, root string) {
	t.Helper()
	home := t.TempDir()
	for _, id := range roots(t, store) {
		done, err := writeback.Export(context.Background(), store, s.Format, id, home, writeback.Exports{})
		if err != nil {
			t.Fatalf("Export(%s) = %v", id, err)
		}
		for _, d := range done {
			if !d.Exact && d.Spot.Path != "" {
				t.Errorf("Export(%s) does not say that %s is exact", id, d.Session)
			}
		}
	}
	units := 0
	for _, f := range files(t, root) {
		below := s.below(t, f)
		if below == "" {
			continue
		}
		units++
		at := filepath.Join(home, filepath.FromSlash(below))
		if len(s.Tables) > 0 {
			if diff := cmp.Diff(string(Dump(t, f, s.Tables...)), string(Dump(t, at, s.Tables...))); diff != "" {
				t.Errorf("database %s written again (-was +is):\n%s", below, diff)
			}
			continue
		}
		if unit := s.Format.Unit(filepath.ToSlash(f)); filepath.FromSlash(unit) == f { // a document has only its bytes
			if !bytes.Equal(read(t, f), read(t, at)) {
				t.Errorf("%s written again is\n%s\nwant\n%s", at, read(t, at), read(t, f))
			}
			if len(s.sources(t, f)) > 1 {
				continue // each is a part of the document
			}
			var got bytes.Buffer
			if err := writeback.WriteFile(context.Background(), store, s.Format.Name, f, &got); err != nil || !bytes.Equal(got.Bytes(), read(t, f)) {
				t.Errorf("WriteFile(%s) gives\n%s, %v\nwant\n%s", f, got.Bytes(), err, read(t, f))
			}
			continue
		}
		same(t, f, at)
	}
	if units == 0 {
		t.Errorf("no file below %s belongs to a unit", root)
	}
}

// below returns where a file of a unit is to be below a home, and "" if it belongs to
// no unit, or is one of a database's temporary files.
func (s Suite) below(t *testing.T, file string) string {
	t.Helper()
	unit := s.Format.Unit(filepath.ToSlash(file))
	if unit == "" {
		return ""
	}
	below := filepath.Base(filepath.FromSlash(unit))
	if s.Format.Below != nil {
		if b := s.Format.Below(unit); b != "" {
			below = b
		}
	}
	rel, err := filepath.Rel(filepath.FromSlash(unit), file)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(filepath.Join(below, rel))
}

// same compares two files.
func same(t *testing.T, was, is string) {
	t.Helper()
	a, err := os.Stat(was)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.Stat(is)
	if err != nil {
		t.Error(err)
		return
	}
	if a.Mode() != b.Mode() || !a.ModTime().Equal(b.ModTime()) {
		t.Errorf("%s written again has the mode %v and the time %v, want %v and %v", is, b.Mode(), b.ModTime(), a.Mode(), a.ModTime())
	}
	if !bytes.Equal(read(t, was), read(t, is)) {
		t.Errorf("%s written again is\n%s\nwant\n%s", is, read(t, is), read(t, was))
	}
}

// roots returns the sessions that no other session started.
func roots(t testing.TB, s *memory.Store) (ids []skein.SessionID) {
	t.Helper()
	for sess, err := range s.Sessions(context.Background(), skein.Filter{IncludeEmpty: true, NoChildren: true}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, sess.ID)
	}
	slices.Sort(ids)
	return ids
}

// thereAndBack checks, for a format that can be written: a session that was not read
// from it is written, read again, and is the same, including what the format cannot
// hold; and reading what was written without the side file yields the same messages, or
// what was lost is reported.
func (s writes) thereAndBack(t *testing.T) {
	from := memory.New()
	defer from.Close()
	id := composed(t, from)
	home := filepath.Join(t.TempDir(), "home")
	done, err := writeback.Export(context.Background(), from, s.Format, id, home, writeback.Exports{})
	if err != nil {
		t.Fatalf("Export(%s) = %v", id, err)
	}
	home, err = filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	to := memory.New()
	defer to.Close()
	rep := s.bring(t, to, home)
	if rep.Damaged != 0 || rep.Skipped != 0 {
		t.Errorf("Import of what was written = %+v, want no damage", rep)
	}
	if diff := cmp.Diff(events(t, from)[string(id)], events(t, to)[string(id)]); diff != "" {
		t.Errorf("there and back (-was +is):\n%s", diff)
	}
	if rep := s.bring(t, from, home); rep.Events != 0 {
		t.Errorf("Import where the session is = %+v, want nothing new", rep)
	}
	for _, d := range done {
		if err := os.Remove(d.Side); d.Side != "" && err != nil {
			t.Fatal(err)
		}
	}
	alone := memory.New()
	defer alone.Close()
	rep = s.bring(t, alone, home)
	if rep.Damaged != 0 || rep.Skipped != 0 || rep.Messages == 0 {
		t.Errorf("Import without the side file = %+v, want messages and no damage", rep)
	}
	was, is := said(t, from), said(t, alone)
	if diff := cmp.Diff(was, is); diff != "" && len(done[0].Losses) == 0 {
		t.Errorf("Export names no losses, but without the side file the words differ (-was +is):\n%s", diff)
	}
}

// composed makes a session with most of what a conversation can have.
func composed(t testing.TB, s *memory.Store) skein.SessionID {
	t.Helper()
	const id = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23"
	at := skein.At(epoch)
	call := func(name, callID, input string) skein.Part {
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: callID, Name: name, Input: []byte(input)}}
	}
	result := func(callID, text string) skein.Part {
		return skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: callID, Text: skein.Text(text), Failed: callID == "toolu_2"}}
	}
	answer := skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "claude-sonnet-4-5", Usage: &skein.Usage{Input: 100, Output: 20}}
	first, second, third := answer, answer, answer
	first.Parts = []skein.Part{skein.TextPart("I look, <é> \u2028 & all."), call("bash", "toolu_1", `{"command":"ls","n":1.50}`), call("read", "toolu_2", `{"path":"a/b.go"}`)}
	second.Parts = []skein.Part{{Kind: skein.PartReasoning, Text: "so there is one"}, skein.TextPart("One file.")}
	third.Parts = []skein.Part{skein.TextPart("Done.")}
	evs := []skein.Event{
		skein.NewEvent(skein.KindCreated, at, skein.Created{Title: "Files", Cwd: "/home/ada/pear", Project: "/home/ada/pear", Agent: "skein", Provider: "anthropic", Model: "claude-sonnet-4-5", Program: "skein"}),
		skein.Say(at+1000, skein.UserSays("list the files\nplease")),
		skein.Say(at+2000, first),
		skein.Say(at+3000, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{result("toolu_1", "a.go\n"), result("toolu_2", "no such file")}}),
		skein.Say(at+4000, second),
		skein.NewEvent(skein.KindTitled, at+4500, skein.Titled{Title: "The files", By: skein.ByPerson}),
		skein.Say(at+5000, skein.UserSays("thanks")),
		skein.Say(at+6000, third),
	}
	if _, err := s.Append(context.Background(), skein.Batch{Session: id, Events: evs}); err != nil {
		t.Fatal(err)
	}
	return id
}

// said returns the text and calls of all sessions, in order, also of messages that were
// taken back.
func said(t testing.TB, s *memory.Store) []string {
	t.Helper()
	return saidIn(t, s, func(skein.Entry) bool { return true })
}

// conversations returns what said returns, without messages that were taken back.
func conversations(t testing.TB, s *memory.Store) []string {
	t.Helper()
	return saidIn(t, s, func(e skein.Entry) bool { return !e.Rewound })
}

func saidIn(t testing.TB, s *memory.Store, which func(skein.Entry) bool) (all []string) {
	t.Helper()
	for _, id := range roots(t, s) {
		var evs []skein.Event
		for e, err := range s.Events(context.Background(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			evs = append(evs, e)
		}
		entries, err := skein.Entries(evs)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if which(e) {
				all = append(all, wordsOf(e)...)
			}
		}
	}
	return all
}

// wordsOf returns the text and calls of a message.
func wordsOf(e skein.Entry) (all []string) {
	for _, p := range e.Message.Parts {
		switch {
		case p.Call != nil:
			all = append(all, "call "+p.Call.Name+" "+string(p.Call.Input))
		case p.Result != nil:
			all = append(all, "result "+string(p.Result.Text))
		default:
			all = append(all, string(e.Message.Role)+" "+string(p.Kind)+" "+string(p.Text))
		}
	}
	return all
}

// SameFiles compares all files below two folders: their names, bytes, modes and
// times.
func SameFiles(t *testing.T, was, is string) {
	t.Helper()
	for _, f := range files(t, was) {
		rel, err := filepath.Rel(was, f)
		if err != nil {
			t.Fatal(err)
		}
		same(t, f, filepath.Join(is, rel))
	}
	if a, b := len(files(t, was)), len(files(t, is)); a != b {
		t.Errorf("%s has %d files, want %d", is, b, a)
	}
}

// sources returns the sources of a unit.
func (s Suite) sources(t testing.TB, path string) []interop.Source {
	t.Helper()
	u, err := s.Format.Look(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	all, err := u.Sources(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return all
}
