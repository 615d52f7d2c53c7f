package interop_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/lines"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// toyLines returns what is said in a draft, as toys, and what is lost.
func toyLines(d interop.Draft) (out []interop.OutLine, losses interop.Losses, err error) {
	entries, err := d.Entries()
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		switch {
		case e.Seq <= d.After:
		case e.Message.Role != skein.RoleUser:
			losses.Add(e.Seq, string(e.Message.Role)+": left out")
		default:
			out = append(out, interop.OutLine{Body: lines.RopeOf([]byte(line(fmt.Sprintf("s%d=%s", e.Seq, e.Message.Words())))), Seq: e.End})
		}
	}
	return out, losses, nil
}

func writeToy(_ context.Context, d interop.Draft) (interop.Written, error) {
	lines, losses, err := toyLines(d)
	path := "talks/" + string(d.Session.ID) + ".toy"
	if d.After > 0 {
		path = d.Path
	}
	return interop.Written{ID: string(d.Session.ID), Texts: []interop.SourceText{{Path: path, Lines: lines}}, Losses: losses}, err
}

func writeBox(_ context.Context, d interop.Draft) (interop.Written, error) {
	said, losses, err := toyLines(d)
	n := 0
	if d.After > 0 {
		for r, err := range d.Known {
			if err != nil {
				return interop.Written{}, err
			}
			if l, err := folder.Parse(r.Raw); err == nil && l.Line != nil {
				n++
			}
		}
	}
	path := string(d.Session.ID) + ".box"
	var lines []interop.OutLine
	for _, l := range said {
		lines = append(lines, interop.OutLine{Body: folder.PieceRope("talk.jsonl", n, l.Body).Rope(), Seq: l.Seq})
		n++
	}
	lines = append(lines, interop.OutLine{Body: folder.End(folder.File{Name: "talk.jsonl", Mode: 0o600}, n).Rope()})
	return interop.Written{ID: string(d.Session.ID), Texts: []interop.SourceText{{Path: path, Lines: lines}}, Losses: losses}, err
}

func writeBase(_ context.Context, d interop.Draft) (interop.Written, error) {
	said, losses, err := toyLines(d)
	id := string(d.Session.ID)
	if d.After > 0 {
		id = d.Name
	}
	var rows []interop.OutLine
	if d.After == 0 {
		talk := foreign.Row{Table: "talks", Columns: []string{"id", "title"}, Values: []foreign.Value{id, nil}}
		rows = append(rows, interop.OutLine{Body: talk.Line()})
	}
	for _, l := range said {
		word := foreign.Row{Table: "toys", Columns: []string{"talk", "word"}, Values: []foreign.Value{id, toyWord(l.Body)}}
		rows = append(rows, interop.OutLine{Body: word.Line(), Seq: l.Seq})
	}
	frame := []byte(`{"schema":{"type":"table","name":"talks","table":"talks","sql":"CREATE TABLE talks (id TEXT PRIMARY KEY, title TEXT)"}}
{"schema":{"type":"table","name":"toys","table":"toys","sql":"CREATE TABLE toys (id INTEGER PRIMARY KEY AUTOINCREMENT, talk TEXT, word TEXT)"}}
`)
	return interop.Written{ID: id, Losses: losses, Texts: []interop.SourceText{
		{Path: "toys.db", Name: id, Lines: rows},
		{Path: "toys.db", Lines: []interop.OutLine{{Body: lines.RopeOf(frame)}}},
	}}, err
}

func toyWord(body lines.Rope) string {
	_, rest, _ := strings.Cut(string(body.Bytes()), `"say":"`)
	word, _, _ := strings.Cut(rest, `"`)
	return word
}

var everyToy = []interop.Format{toy(), box(), base()}

// export writes a session of p's store into a new folder.
func (p *place) export(f interop.Format, id string) (home string, done []writeback.Exported) {
	p.Helper()
	home = filepath.Join(p.TempDir(), "home")
	done, err := writeback.Export(context.Background(), p.store, f, skein.SessionID(id), home, writeback.Exports{})
	if err != nil {
		p.Fatalf("Export(%s, %s) = %v", f.Name, id, err)
	}
	return home, done
}

// elsewhere returns a store with the contents of a folder.
func elsewhere(t *testing.T, dir string) *place {
	t.Helper()
	p := &place{T: t, dir: dir, store: memory.New()}
	t.Cleanup(func() { p.store.Close() })
	p.again()
	return p
}

func (p *place) again() interop.Report {
	p.Helper()
	rep, err := importer.Import(context.Background(), p.store, everyToy, []string{p.dir}, interop.Options{})
	if err != nil {
		p.Fatalf("Import(%s) = %v", p.dir, err)
	}
	return rep
}

// all returns every event of a session, in full.
func (p *place) all(id string) string {
	p.Helper()
	var b strings.Builder
	for e, err := range p.store.Events(context.Background(), skein.SessionID(id), 0) {
		if err != nil {
			p.Fatalf("Events(%s) = %v", id, err)
		}
		fmt.Fprintf(&b, "%d %d %s %q %s\n", e.Seq, e.Time, e.Kind, e.ClientID, e.Payload)
	}
	return b.String()
}

func (p *place) add(id string, evs ...skein.Event) {
	p.Helper()
	if _, err := skein.Add(context.Background(), p.store, skein.SessionID(id), evs...); err != nil {
		p.Fatal(err)
	}
}

func told(text string) skein.Event {
	return skein.Say(5, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{skein.TextPart(text)}})
}

func asked(text string) skein.Event { return skein.Say(6, skein.UserSays(text)) }

func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		all[filepath.ToSlash(rel)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAnUntouchedSessionIsExportedAsItWas(t *testing.T) {
	p := newPlace(t)
	p.write("t.toy", "a1", "\n", "{\"torn")
	p.raw("b.box/talk.jsonl", line("b1"))
	p.raw("b.box/deep/odd", "\xff")
	p.toys()
	p.again()
	p.add("t", skein.NewEvent(skein.KindTitled, 0, skein.Titled{Title: "mine", By: skein.ByPerson}))
	home, done := p.export(toy(), "t")
	if got := tree(t, home); len(done) != 1 || !done[0].Exact || got["t.toy"] != line("a1")+"\n{\"torn" {
		t.Errorf("Export(toy) = %+v and writes %q, want the file as it was", done, got)
	}
	home, _ = p.export(box(), "b")
	if got, want := tree(t, home)["b.box/deep/odd"], "\xff"; got != want {
		t.Errorf("Export(box) writes %q, want %q", got, want)
	}
	home, _ = p.export(base(), "a")
	db, err := foreign.Open(t.Context(), filepath.Join(home, "toys.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows bytes.Buffer
	if err := db.Rows(t.Context(), "toys", "", func(r foreign.Row) error { rows.Write(r.AppendLine(nil)); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := `{"table":"toys","rowid":1,"row":{"id":1,"talk":"a","word":"one"}}
{"table":"toys","rowid":3,"row":{"id":3,"talk":"a","word":"three"}}
`; rows.String() != want {
		t.Errorf("Export(base) writes\n%swant\n%s", rows.String(), want)
	}
}

func TestThereAndBackIsTheSameSession(t *testing.T) {
	for _, f := range everyToy {
		t.Run(f.Name, func(t *testing.T) {
			p := newPlace(t)
			p.add("mine", skein.NewEvent(skein.KindCreated, 1, skein.Created{Cwd: "/x"}), asked("hello"), told("there"), asked("bye"))
			home, done := p.export(f, "mine")
			if len(done) != 1 || done[0].Exact || len(done[0].Losses) != 1 || done[0].Losses[0].What != "assistant: left out" || done[0].Side == "" {
				t.Fatalf("Export = %+v, want one loss and a side file", done)
			}
			q := elsewhere(t, home)
			if got, want := q.all("mine"), p.all("mine"); got != want {
				t.Errorf("what comes back is\n%swant\n%s", got, want)
			}
			if rep := q.again(); rep.Events != 0 || rep.Skipped != 0 {
				t.Errorf("Import again = %+v, want nothing new", rep)
			}
			if rep, err := importer.Import(t.Context(), p.store, everyToy, []string{home}, interop.Options{}); err != nil || rep.Events != 0 || rep.Skipped != 0 {
				t.Errorf("Import where the session is = %+v, %v, want nothing new", rep, err)
			}
		})
	}
}

func TestWhatTheOtherProgramAddsGoesOnInTheSession(t *testing.T) {
	p := newPlace(t)
	p.add("mine", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), asked("hello"), told("there"), asked("bye"))
	home, _ := p.export(toy(), "mine")
	f, err := os.OpenFile(filepath.Join(home, "talks", "mine.toy"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(line("z1") + line("z2>s2")); err != nil {
		t.Fatal(err)
	}
	f.Close()
	q := elsewhere(t, home)
	q.wants("mine", "created hello there bye z1 <2 z2")
	p.dir = home
	p.add("mine", asked("meanwhile"))
	if rep := p.again(); rep.Sessions != 1 {
		t.Errorf("Import of a file that went on as the session did = %+v, want a fork", rep)
	}
	p.wants("mine", "created hello there bye meanwhile")
	for _, id := range p.sessions() {
		if strings.HasPrefix(id, "mine~") {
			p.wants(id, "created hello there bye fork(mine@4) z1 <2 z2")
		}
	}
}

func TestExportOverwritesNothing(t *testing.T) {
	p := newPlace(t)
	p.add("mine", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), asked("hello"))
	home := t.TempDir()
	at := filepath.Join(home, "talks", "mine.toy")
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := writeback.Export(t.Context(), p.store, toy(), "mine", home, writeback.Exports{})
	if !errors.Is(err, skein.ErrExists) || tree(t, home)["talks/mine.toy"] != "other" {
		t.Errorf("Export over another file = %v, want ErrExists and the file as it was", err)
	}
	bad := toy()
	bad.Write = func(context.Context, interop.Draft) (interop.Written, error) {
		return interop.Written{Texts: []interop.SourceText{{Path: "../x", Lines: []interop.OutLine{{Body: lines.RopeOf([]byte("x"))}}}}}, nil
	}
	if _, err := writeback.Export(t.Context(), p.store, bad, "mine", home, writeback.Exports{}); !errors.Is(err, skein.ErrInvalid) {
		t.Errorf("Export to ../x = %v, want ErrInvalid", err)
	}
}

func TestADeletedSessionDoesNotComeBackFromItsSideFile(t *testing.T) {
	p := newPlace(t)
	p.add("mine", skein.NewEvent(skein.KindCreated, 1, skein.Created{}), asked("hello"))
	p.dir, _ = p.export(toy(), "mine")
	if _, err := skein.LifecycleOf(p.store).Delete(t.Context(), "mine", skein.Deletion{}); err != nil {
		t.Fatal(err)
	}
	if rep := p.again(); rep.Events != 0 || rep.Removed != 1 || len(p.sessions()) != 0 {
		t.Errorf("Import after Delete = %+v and sessions %v, want none", rep, p.sessions())
	}
}
