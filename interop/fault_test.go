package interop_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
)

func TestDamagedRecordsAreKeptCountedAndNamed(t *testing.T) {
	p := newPlace(t)
	p.raw("a.toy", line("a1")+"{\"id\":\n\n"+line("a2")+strings.Repeat("\x00", 5)+"\n"+strings.TrimSpace(line("a3"))+line("a4")+"rubbish\n"+`{"id":"to`)
	rep := p.bring(interop.Options{})
	p.wants("a", "created a1 a2 a3 a4")
	var got []string
	for _, d := range rep.Damage {
		got = append(got, fmt.Sprintf("%s:%d: %s", filepath.Base(d.Path), d.Line, d.What))
	}
	want := []string{
		"a.toy:2: cut off", "a.toy:5: 5 NUL bytes", "a.toy:7: no JSON object: \"rubbish\\n\"", "a.toy:8: torn: the file ends in it",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || rep.Damaged != len(want) {
		t.Errorf("Damage = %q and %d, want %q", got, rep.Damaged, want)
	}
	p.exact("a.toy")
	p.raw("a.toy", line("a1")+"{\"id\":\n\n"+line("a2")+strings.Repeat("\x00", 5)+"\n"+strings.TrimSpace(line("a3"))+line("a4")+"rubbish\n"+`{"id":"torn","say":"whole"}`)
	if rep := p.bring(interop.Options{}); rep.Damaged != 0 || rep.Events != 1 {
		t.Errorf("Import of the line when it is whole = %+v, want 1 event and no damage", rep)
	}
	p.wants("a", "created a1 a2 a3 a4 whole")
	f, err := skein.SourcesOf(p.store).File(t.Context(), "toy", p.path("a.toy"))
	if err != nil || f.Damaged != 3 {
		t.Errorf("File = %+v, %v, want 3 damaged", f, err)
	}
}

func TestLinesThatAreLongOrDeep(t *testing.T) {
	long := fmt.Sprintf(`{"id":"long","say":%q}`, strings.Repeat("x", 16<<20)) + "\n"
	deep := `{"id":"deep","say":"d","x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}\n"
	huge := `{"id":"huge","say":"h","x":` + strings.Repeat("9", 100_000) + "}\n"
	beyond := `{"id":"beyond","say":"` + strings.Repeat("y", interop.MaxRecord) + "\"}\n"
	p := newPlace(t)
	p.raw("a.toy", line("a1")+long+deep+huge+beyond+line("a2"))
	rep := p.bring(interop.Options{})
	if rep.Damaged != 2 || rep.Messages != 4 {
		t.Errorf("Import = %d damaged and %d messages, want 2 and 4: %v", rep.Damaged, rep.Messages, rep.Damage)
	}
	p.exact("a.toy")
}

func TestWhatIsNoFileIsNamedAndLeftAlone(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.write(".hidden/deep/.er/b.toy", "b1")
	p.raw("notes.txt", "nothing")
	for _, d := range []string{"dir.toy/sub", "closed"} {
		if err := os.MkdirAll(p.path(d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.write("dir.toy/c.toy", "c1")
	want := 0
	outside := newPlace(t)
	outside.write("out.toy", "o1")
	for to, from := range map[string]string{outside.dir: "leads-out", outside.path("out.toy"): "out.toy", p.dir: "cycle", p.path("nowhere"): "dangling.toy"} {
		if err := os.Symlink(to, p.path(from)); err == nil { // Windows may forbid it
			want++
		}
	}
	if pipe(t, p.path("pipe.toy")) {
		want++
	}
	if unreadable(t, p, "secret.toy") {
		want++
	}
	rep := p.bring(interop.Options{})
	if got := p.sessions(); fmt.Sprint(got) != "[a b c]" {
		t.Errorf("sessions: %q, want a, b and c", got)
	}
	if rep.Skipped != want || len(rep.Skips) != want || rep.Unmatched != 1 || rep.Files != 3 {
		t.Errorf("Import = %+v, want %d skipped, 1 unmatched, 3 files", rep, want)
	}
	if rep := p.bring(interop.Options{}); rep.Unchanged != 3 || rep.Events != 0 {
		t.Errorf("second Import = %+v, want 3 unchanged", rep)
	}
}

func TestALinkThatIsNamedIsFollowed(t *testing.T) {
	p, outside := newPlace(t), newPlace(t)
	outside.write("o.toy", "o1")
	if err := os.Symlink(outside.dir, p.path("link")); err != nil {
		t.Skip("cannot make symbolic links here:", err)
	}
	rep, err := importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{p.path("link")}, interop.Options{})
	if err != nil || rep.Sessions != 1 {
		t.Errorf("Import(link) = %+v, %v, want 1 session", rep, err)
	}
	rep, err = importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{outside.path("o.toy"), outside.dir}, interop.Options{})
	if err != nil || rep.Unchanged != 1 || rep.Files != 1 {
		t.Errorf("Import(the same by its own path) = %+v, %v, want 1 file, unchanged", rep, err)
	}
}

func TestAPathThatIsNotThereIsAnError(t *testing.T) {
	p := newPlace(t)
	_, err := importer.Import(t.Context(), p.store, []interop.Format{toy()}, []string{p.path("nothing")}, interop.Options{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("Import(nothing) = %v, want an error that says so", err)
	}
}

func TestManyFilesInTheOrderOfTheirAge(t *testing.T) {
	p := newPlace(t)
	p.write("z.toy", "z1", "z2")
	for i := range 30 {
		p.write(fmt.Sprintf("f%d/copy%d.toy", i, i), "z1", "z2", fmt.Sprintf("own%d", i))
	}
	var last interop.Progress
	rep := p.bring(interop.Options{Progress: func(pr interop.Progress) { last = pr }})
	if rep.Sessions != 31 || rep.Copies != 60 || rep.Events != 3+2*30 {
		t.Errorf("Import = %+v, want 31 sessions, 60 copies, 63 events", rep)
	}
	if last.Files != 31 || last.Of != 31 || last.Bytes != last.Size {
		t.Errorf("last Progress = %+v, want all 31 files", last)
	}
	p.wants("z", "created z1 z2")
}

// A late store lets something happen after its first Find, such as another import
// that reads the same file.
type late struct {
	skein.Store
	skein.Sources
	before func()
}

func (l *late) Unwrap() skein.Store { return l.Store }

func (l *late) Find(ctx context.Context, keys []skein.ClientID) (map[skein.ClientID]skein.Place, error) {
	m, err := skein.SourcesOf(l.Store).Find(ctx, keys)
	if l.before != nil {
		do := l.before
		l.before = nil
		do()
	}
	return m, err
}

func TestTwoImportsOfOneFileMakeOneSession(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2", "k/kid", "a3>a1")
	l := &late{p.store, skein.SourcesOf(p.store), func() { p.bring(interop.Options{}) }}
	rep, err := importer.Import(t.Context(), l, []interop.Format{toy()}, []string{p.dir}, interop.Options{})
	if err != nil || rep.Events != 0 || rep.Waiting != 1 {
		t.Errorf("the later Import = %+v, %v, want one file that waits", rep, err)
	}
	p.wants("a", "created a1 a2 <2 a3")
	if got := p.sessions(); len(got) != 2 {
		t.Errorf("sessions: %q, want a and kid", got)
	}
}

func TestAFileCannotWriteIntoAnothersSession(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.write("evil.toy", "e1", "e2/a", "e3/../x", "e4/"+strings.Repeat("y", 300))
	p.bring(interop.Options{})
	p.wants("a", "created a1")
	if got := p.sessions(); len(got) != 5 {
		t.Errorf("sessions: %q, want five", got)
	}
	p.write("evil.toy", "e1", "e2/a", "e3/../x", "e4/"+strings.Repeat("y", 300), "e5/a")
	p.bring(interop.Options{})
	p.wants("a", "created a1")
	if got := p.sessions(); len(got) != 5 {
		t.Errorf("sessions: %q, want five", got)
	}
}
