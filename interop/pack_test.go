package interop_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/watch"
	"github.com/skein-dev/skein/interop/writeback"
)

// pack packs data in the way that the name says.
func pack(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if strings.HasSuffix(name, ".zst") {
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	_, err := w.Write(data)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAPackedFileIsReadAsTheOneWithoutItsEnding(t *testing.T) {
	for _, ending := range []string{".gz", ".zst"} {
		p := newPlace(t)
		text := line("a1") + "\n" + line("a2") + `{"torn`
		p.raw("a.toy"+ending, string(pack(t, ending, []byte(text))))
		rep := p.bring(interop.Options{})
		if rep.Files != 1 || rep.Sessions != 1 || rep.Skipped != 0 {
			t.Errorf("Import(a.toy%s) = %+v, want one session", ending, rep)
		}
		p.wants("a", "created a1 a2")
		var got strings.Builder
		if err := writeback.WriteSource(t.Context(), p.store, "toy", p.path("a.toy"+ending), &got); err != nil || got.String() != text {
			t.Errorf("WriteSource(a.toy%s) gives %q and the error %v, want %q", ending, got.String(), err, text)
		}
		home, done := p.export(toy(), "a")
		if all := tree(t, home); len(all) != 1 || all["a.toy"] != text || !done[0].Exact {
			t.Errorf("Export of a.toy%s writes %q, want a.toy unpacked", ending, all)
		}
		p.raw("a.toy"+ending, string(pack(t, ending, []byte(line("a1")+"\n"+line("a2")+line("a3")))))
		p.bring(interop.Options{})
		p.wants("a", "created a1 a2 a3")
		if rep := p.bring(interop.Options{}); rep.Unchanged != 1 || rep.Events != 0 {
			t.Errorf("Import(a.toy%s) again = %+v, want it unchanged", ending, rep)
		}
		p.add("a", asked("here"))
		if _, err := writeback.Sync(t.Context(), p.store, toy(), "a"); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "unpack it first") {
			t.Errorf("Sync(a.toy%s) = %v, want ErrInvalid and what to do", ending, err)
		}
	}
}

func TestThePlainFileWinsOverThePackedOne(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	p.raw("a.toy.zst", string(pack(t, ".zst", []byte(line("a1")))))
	if rep := p.bring(interop.Options{}); rep.Files != 1 || rep.Skipped != 1 || rep.Skips[0].Path != p.path("a.toy.zst") {
		t.Errorf("Import of both = %+v, want the plain one alone, and the other named", rep)
	}
	p.wants("a", "created a1 a2")
	p.raw("a.toy.zst", string(pack(t, ".zst", []byte(line("a1")+line("a2")))))
	if err := os.Remove(p.path("a.toy")); err != nil {
		t.Fatal(err)
	}
	if rep := p.bring(interop.Options{}); rep.Events != 0 || rep.Skipped != 0 {
		t.Errorf("Import once it is packed = %+v, want nothing new", rep)
	}
	p.raw("a.toy.zst", string(pack(t, ".zst", []byte(line("a1")+line("a2")+line("a3")))))
	p.bring(interop.Options{})
	p.wants("a", "created a1 a2 a3")
}

func TestAPackedFileThatIsWrittenIsWatched(t *testing.T) {
	p := newPlace(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reports, done := make(chan interop.Report, 16), make(chan error, 1)
	go func() {
		done <- watch.Watch(ctx, p.store, []interop.Format{toy()}, []string{p.dir}, interop.Options{}, func(r interop.Report) { reports <- r })
	}()
	<-reports
	all := pack(t, ".gz", []byte(line("a1")+line("a2")))
	write := func(b []byte) {
		if err := os.WriteFile(p.path("a.toy.gz"), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(all[:len(all)-9])
	write(all)
	for deadline := time.After(overdue); len(p.sessions()) == 0 || p.tell("a") != "created a1 a2"; {
		select {
		case r := <-reports:
			if r.Skipped > 0 {
				t.Errorf("Watch says %+v of a file that is being written", r.Skips)
			}
		case err := <-done:
			t.Fatalf("Watch ends with %v", err)
		case <-deadline:
			t.Fatal("Watch does not see the file ")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("Watch = %v, want nil", err)
	}
}

func TestWhatIsNoPackedSessionIsLeftAndNamed(t *testing.T) {
	p := newPlace(t)
	p.raw("plain.toy.gz", line("a1"))
	p.raw("empty.toy.zst", "")
	if rep := p.bring(interop.Options{}); rep.Unmatched != 2 || rep.Skipped != 0 || rep.Events != 0 {
		t.Errorf("Import of what is only called packed = %+v, want 2 unmatched", rep)
	}
	whole := pack(t, ".gz", bytes.Repeat([]byte(line("a1")), 10000))
	p.raw("cut.toy.gz", string(whole[:len(whole)/2]))
	rep := p.bring(interop.Options{})
	if rep.Skipped != 1 || !strings.Contains(rep.Skips[0].Why, "gz: unexpected EOF") {
		t.Errorf("Import of half a file = %+v, want it named", rep)
	}
	p.wants("cut", "created a1")
	var got bytes.Buffer
	if err := writeback.WriteSource(t.Context(), p.store, "toy", p.path("cut.toy.gz"), &got); err != nil || got.Len() == 0 || !bytes.HasPrefix(bytes.Repeat([]byte(line("a1")), 10000), got.Bytes()) {
		t.Errorf("WriteSource(half a file) gives %d bytes and %v, want what could be read", got.Len(), err)
	}
}

func TestABombIsNotUnpacked(t *testing.T) {
	zeros := make([]byte, 48<<20)
	for _, name := range []string{"x.gz", "x.zst"} {
		bomb := pack(t, name, zeros)
		r, ok, err := disk.Unpack(name, bytes.NewReader(bomb))
		if err != nil || !ok {
			t.Fatalf("Unpack(%s) = %t, %v", name, ok, err)
		}
		n, err := io.Copy(io.Discard, r)
		if len(zeros)/len(bomb) > 500 && (err == nil || !strings.Contains(err.Error(), "over 500 times") || n > 40<<20) {
			t.Errorf("reading %s, %d bytes of which are %d, gives %d and %v, want an error soon after 32 MB", name, len(bomb), len(zeros), n, err)
		}
		r.Close()
	}
	p := newPlace(t)
	p.raw("a.toy.zst", string(pack(t, ".zst", zeros)))
	if rep := p.bring(interop.Options{}); rep.Skipped != 1 || !strings.Contains(rep.Skips[0].Why, "that is not a session") {
		t.Errorf("Import of a bomb = %+v, want it named", rep)
	}
}

func TestAPackedDatabaseIsRead(t *testing.T) {
	temp := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, temp)
	}
	p := newPlace(t)
	db := p.toys()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(p.path("toys.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(p.path("toys.db")); err != nil {
		t.Fatal(err)
	}
	p.raw("old/toys.db.gz", string(pack(t, ".gz", data)))
	p.raw("none/toys.db.gz", "text")
	p.raw("bad/toys.db.gz", string(pack(t, ".gz", data)[:500]))
	rep := p.bringUnits()
	if rep.Sessions != 2 || rep.Unmatched != 1 || rep.Skipped != 1 || rep.Skips[0].Path != p.path("bad/toys.db.gz") {
		t.Errorf("Import of packed databases = %+v, want 2 sessions, one file unmatched, one named", rep)
	}
	p.wants("a", "created T:A one three")
	if rep := p.bringUnits(); rep.Unchanged != 1 || rep.Events != 0 {
		t.Errorf("Import again = %+v, want it unchanged", rep)
	}
	home, _ := p.export(base(), "a")
	again, err := foreign.Open(t.Context(), filepath.Join(home, "toys.db"))
	if err != nil {
		t.Fatalf("Export writes no database: %v", err)
	}
	again.Close()
	for name := range tree(t, temp) {
		if !strings.HasPrefix(name, "TestAPacked") {
			t.Errorf("%s is left in the folder for temporary files", name)
		}
	}
}

// Whatever is wrong with a packed file, what comes before is imported, and the file
// is reported each time until it is whole.
func TestWhatIsReadableOfADamagedPackedFileIsTaken(t *testing.T) {
	text := []byte(line("a1") + line("a2") + strings.TrimSuffix(line("a3"), "\n"))
	for _, ending := range []string{".gz", ".zst"} {
		whole := pack(t, ending, text)
		flipped := func(at int) string {
			b := bytes.Clone(whole)
			b[at] ^= 1
			return string(b)
		}
		for name, c := range map[string]struct{ data, want string }{
			"the checksum is wrong": {flipped(len(whole) - map[string]int{".gz": 8, ".zst": 1}[ending]), "created a1 a2 a3"},
			"more follows":          {string(whole) + "and more", "created a1 a2 a3"},
			"the end is missing":    {string(whole[:len(whole)-3]), "created a1 a2 a3"},
		} {
			if ending == ".zst" && name != "more follows" { // its blocks are checked before they are returned
				continue
			}
			t.Run(ending+" "+name, func(t *testing.T) {
				p := newPlace(t)
				p.raw("a.toy"+ending, c.data)
				for range 2 {
					rep := p.bring(interop.Options{})
					if rep.Failed != 1 || len(rep.Skips) != 1 || rep.Skips[0].Path != p.path("a.toy"+ending) {
						t.Errorf("Import = %+v, want the file named as failed", rep)
					}
					p.wants("a", c.want)
				}
				p.raw("a.toy"+ending, string(whole))
				if rep := p.bring(interop.Options{}); rep.Failed != 0 {
					t.Errorf("Import of it whole = %+v, want nothing wrong", rep)
				}
				p.wants("a", c.want)
			})
		}
	}
}

func TestWhatIsReadableOfADamagedPackedDatabaseIsTaken(t *testing.T) {
	p := newPlace(t)
	db := p.toys()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(p.path("toys.db"))
	if err := errors.Join(err, os.Remove(p.path("toys.db"))); err != nil {
		t.Fatal(err)
	}
	z := pack(t, ".gz", data)
	z[len(z)-8] ^= 1
	p.raw("old/toys.db.gz", string(z))
	for range 2 {
		rep := p.bringUnits()
		if rep.Failed != 1 || len(rep.Skips) != 1 || !strings.Contains(rep.Skips[0].Why, "gz: ") {
			t.Errorf("Import = %+v, want the file named as failed", rep)
		}
		p.wants("a", "created T:A one three")
	}
}
