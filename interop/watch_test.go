package interop_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/hooknews"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/watch"
)

// A watched is a place that a Watch looks at.
type watched struct {
	*place
	reports chan interop.Report
}

func watchDir(t *testing.T, p *place) *watched {
	t.Helper()
	return watchAs(t, p, toy())
}

func watchAs(t *testing.T, p *place, formats ...interop.Format) *watched {
	t.Helper()
	return watchAll(t, p, formats, p.dir)
}

func watchPaths(t *testing.T, p *place, paths ...string) *watched {
	t.Helper()
	return watchAll(t, p, []interop.Format{toy()}, paths...)
}

func watchAll(t *testing.T, p *place, formats []interop.Format, paths ...string) *watched {
	t.Helper()
	return watchWith(t, p, interop.Options{}, formats, paths...)
}

func watchWith(t *testing.T, p *place, o interop.Options, formats []interop.Format, paths ...string) *watched {
	t.Helper()
	w := &watched{p, make(chan interop.Report, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- watch.Watch(ctx, p.store, formats, paths, o, func(r interop.Report) { w.reports <- r })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Watch = %v, want nil after its context ended", err)
		}
	})
	w.next()
	return w
}

// overdue is how long to wait for a report: a machine may be slow.
const overdue = 5 * time.Minute

// next waits for a report.
func (w *watched) next() interop.Report {
	w.Helper()
	select {
	case r := <-w.reports:
		return r
	case <-time.After(overdue):
		w.Fatal("no report came")
		panic("unreachable")
	}
}

// until waits until a session has the events that it should.
func (w *watched) until(id, want string) {
	w.Helper()
	for {
		for _, s := range w.sessions() {
			if s == id && w.tell(id) == want {
				return
			}
		}
		w.next()
	}
}

func (w *watched) append(name, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o700); err != nil {
		w.Fatal(err)
	}
	f, err := os.OpenFile(w.path(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		w.Fatal(err)
	}
}

func TestWatchTakesWhatIsAppended(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	w := watchDir(t, p)
	w.wants("a", "created a1 a2")
	w.append("a.toy", line("a3"))
	w.until("a", "created a1 a2 a3")
	w.append("a.toy", line("a4>a1")+line("a5"))
	w.until("a", "created a1 a2 a3 <2 a4 a5")
	w.exact("a.toy")
}

func TestWatchTakesNewFilesInNewFolders(t *testing.T) {
	w := watchDir(t, newPlace(t))
	w.append("x/y/b.toy", line("b1"))
	w.until("b", "created b1")
	w.append("x/y/b.toy", line("b2"))
	w.append("x/y/z/c.toy", line("b1")+line("c1"))
	w.until("b", "created b1 b2")
	w.until("c", "created b1 fork(b@2) c1")
}

func TestWatchLeavesATornLineUntilItIsWhole(t *testing.T) {
	w := watchDir(t, newPlace(t))
	whole := line("a2")
	w.append("a.toy", line("a1")+whole[:9])
	w.until("a", "created a1")
	if f, err := skein.SourcesOf(w.store).File(t.Context(), "toy", w.path("a.toy")); err != nil || f.Offset != int64(len(line("a1"))) || f.Damaged != 0 {
		t.Errorf("File = %+v, %v, want the offset at the end of the first line", f, err)
	}
	w.append("a.toy", whole[9:len(whole)-1]) // whole, except for the line feed
	w.until("a", "created a1 a2")
	w.append("a.toy", "\n"+line("a3"))
	w.until("a", "created a1 a2 a3")
	w.exact("a.toy")
}

func TestWatchSeesThatAFileWasRewritten(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	w := watchDir(t, p)
	w.append("a.toy", line("a3"))
	w.until("a", "created a1 a2 a3")
	next := w.path("a.new")
	if err := os.WriteFile(next, []byte(line("a1")+line("a2=new")+line("a3")+line("a4")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, w.path("a.toy")); err != nil {
		t.Fatal(err)
	}
	w.until("a", "created a1 a2 a3 3:=new a4")
	w.exact("a.toy")
}

func TestWatchSeesThatAFileWasRewrittenInPlace(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	w := watchDir(t, p)
	w.append("a.toy", line("a3"))
	w.until("a", "created a1 a2 a3")
	if err := os.WriteFile(w.path("a.toy"), []byte(line("a1")+line("a2=a longer one")+line("a3")+line("a4")), 0o600); err != nil {
		t.Fatal(err)
	}
	w.until("a", "created a1 a2 a3 3:=a longer one a4")
	w.exact("a.toy")
}

func TestATornLineThatAWatchLeftIsTakenByAnImport(t *testing.T) {
	w := watchDir(t, newPlace(t))
	w.append("a.toy", line("a1")+`{"id":"to`)
	w.until("a", "created a1")
	if rep := w.bring(interop.Options{}); rep.Damaged != 1 || rep.Unchanged != 0 {
		t.Errorf("Import = %+v, want the torn line", rep)
	}
	w.exact("a.toy")
}

// A new program is installed, or used in a folder for the first time, while a
// watch runs.
func TestWatchTakesUpAPlaceThatComesIntoBeing(t *testing.T) {
	for name, place := range map[string]string{"its folder is there": "there/deep", "nothing of it is there": "a/b/c/deep", "it is a file": "a/b/one.toy"} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("there/old.toy", "o1")
			w := watchPaths(t, p, p.path(place))
			p.write("there/beside.toy", "x1") // nobody asked for it
			file := place
			if filepath.Ext(place) == "" {
				file += "/one.toy"
			}
			w.append(file, line("a1"))
			w.until("one", "created a1")
			w.append(file, line("a2"))
			w.until("one", "created a1 a2")
			if all := w.sessions(); len(all) != 1 {
				t.Errorf("a watch of %s takes %v, want one alone", place, all)
			}
		})
	}
}

func TestWatchTakesUpAPlaceThatWentAndCameAgain(t *testing.T) {
	p := newPlace(t)
	p.write("home/sub/a.toy", "a1")
	w := watchPaths(t, p, p.path("home"))
	w.until("a", "created a1")
	if err := os.RemoveAll(p.path("home")); err != nil {
		t.Fatal(err)
	}
	w.append("home/sub/b.toy", line("b1"))
	w.until("b", "created b1")
	if err := os.Rename(p.path("home"), p.path("away")); err != nil {
		t.Fatal(err)
	}
	w.append("home/sub/c.toy", line("c1"))
	w.until("c", "created c1")
	w.append("home/sub/c.toy", line("c2"))
	w.until("c", "created c1 c2")
}

func TestWatchTakesUpAPlaceThatIsALink(t *testing.T) {
	p := newPlace(t)
	p.write("real/sub/a.toy", "a1")
	w := watchPaths(t, p, p.path("home/link/sub"))
	if err := os.Mkdir(p.path("home"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(p.path("real"), p.path("home/link")); err != nil {
		t.Fatal(err)
	}
	w.until("a", "created a1")
	w.append("real/sub/a.toy", line("a2"))
	w.until("a", "created a1 a2")
}

func TestWatchTellsOnceWhatItCannotRead(t *testing.T) {
	p := newPlace(t)
	w := watchAs(t, p, leaf())
	told := 0
	for i, size := range []int64{interop.MaxDocument + 1, interop.MaxDocument + 2_000_000, 0} {
		p.raw("new", leafText("a1"))
		if size > 0 {
			if err := os.Truncate(p.path("new"), size); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(p.path("new"), p.path("long.leaf")); err != nil {
			t.Fatal(err)
		}
		mark := "b" + strconv.Itoa(i)
		p.raw(mark+".leaf", leafText(mark))
		for done := false; !done; done = told > 0 && w.has(mark) && (size > 0 || w.has("long")) {
			told += w.next().Skipped
		}
	}
	if told != 1 {
		t.Errorf("a watch tells %d times of a document that is too long, want 1", told)
	}
}

func (w *watched) has(id string) bool { return slices.Contains(w.sessions(), id) }

// An agent may keep its sessions where nobody looks: its hook says where.
func TestWatchTakesAFileThatAHookNamed(t *testing.T) {
	p, elsewhere, board := newPlace(t), newPlace(t), hooknews.At(t.TempDir())
	w := watchWith(t, p, interop.Options{News: board}, []interop.Format{toy()}, p.dir)
	elsewhere.write("a.toy", "a1")
	elsewhere.write("b.toy", "b1")
	for _, file := range []string{"gone.toy", "a.toy"} {
		if err := board.Put(hooknews.News{Agent: "toy", Session: file, File: elsewhere.path(file), At: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	w.until("a", "created a1")
	(&watched{place: elsewhere}).append("a.toy", line("a2"))
	w.until("a", "created a1 a2")
	if all := w.sessions(); len(all) != 1 {
		t.Errorf("the watch takes %v, want only what the hook named", all)
	}
}
