package interop_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/writeback"
)

func (p *place) sync(f interop.Format, id string) (writeback.Synced, error) {
	p.Helper()
	return writeback.Sync(context.Background(), p.store, f, skein.SessionID(id))
}

func TestASessionIsWrittenBackToWhereItCameFrom(t *testing.T) {
	for _, f := range everyToy {
		t.Run(f.Name, func(t *testing.T) {
			p := newPlace(t)
			var id, want string
			switch f.Name {
			case "toy":
				p.raw("a.toy", line("a1")+strings.TrimSuffix(line("a2"), "\n"))
				id, want = "a", "created a1 a2 more"
			case "box":
				p.raw("a.box/talk.jsonl", line("a1")+line("a2"))
				p.raw("a.box/keep", "me")
				id, want = "a", "created a1 a2 more"
			default:
				p.toys()
				id, want = "a", "created T:A one three more"
			}
			p.again()
			p.add(id, asked("more"))
			done, err := p.sync(f, id)
			if err != nil || done.Events != 1 {
				t.Fatalf("Sync = %+v, %v, want 1 event", done, err)
			}
			if done, err := p.sync(f, id); err != nil || done.Events != 0 {
				t.Errorf("Sync again = %+v, %v, want nothing new", done, err)
			}
			if rep := p.again(); rep.Events != 0 {
				t.Errorf("Import of what was written back = %+v, want nothing new", rep)
			}
			p.wants(id, want)
			elsewhere(t, p.dir).wants(id, want)
			p.add(id, asked("still more"))
			if done, err := p.sync(f, id); err != nil || done.Events != 1 {
				t.Fatalf("Sync of more = %+v, %v, want 1 event", done, err)
			}
			elsewhere(t, p.dir).wants(id, want+" still more")
			if f.Name == "box" {
				if b, err := os.ReadFile(p.path("a.box/keep")); string(b) != "me" {
					t.Errorf("a file that nobody spoke of is %q, %v, want it as it was", b, err)
				}
			}
		})
	}
}

func TestNothingIsWrittenBackWhenBothWentOn(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2")
	p.again()
	p.add("a", asked("here"))
	p.write("a.toy", "a1", "a2", "there")
	was := tree(t, p.dir)["a.toy"]
	done, err := p.sync(toy(), "a")
	if !errors.Is(err, interop.ErrChanged) || done.Report.Sessions != 1 {
		t.Fatalf("Sync = %+v, %v, want ErrChanged and a new session", done, err)
	}
	if tree(t, p.dir)["a.toy"] != was {
		t.Error("Sync wrote to the file")
	}
	p.wants("a", "created a1 a2 here")
	for _, id := range p.sessions() {
		if id != "a" {
			p.wants(id, "created a1 a2 fork(a@3) there")
		}
	}
	if _, err := p.sync(toy(), "a"); !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), p.sessions()[1]) {
		t.Errorf("Sync of the line that lost its file = %v, want ErrInvalid and the name of %s", err, p.sessions()[1])
	}
}

func TestWhatChangedInTheFileAloneIsTakenFirst(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1")
	p.again()
	p.write("a.toy", "a1", "a2")
	if done, err := p.sync(toy(), "a"); err != nil || done.Events != 0 || done.Report.Events != 1 {
		t.Errorf("Sync = %+v, %v, want 1 event taken and nothing written", done, err)
	}
	p.wants("a", "created a1 a2")
}

func TestARowThatAnotherProgramChangedMeanwhileIsNotOverwritten(t *testing.T) {
	p := newPlace(t)
	db := p.toys()
	p.again()
	p.add("a", asked("more"))
	late := base()
	late.Put = func(ctx context.Context, path string, parts []interop.Part) error {
		exec(t, db, `UPDATE toys SET word = 'other' WHERE id = 3`)
		return interop.PutDatabase(ctx, path, parts)
	}
	if _, err := p.sync(late, "a"); !errors.Is(err, interop.ErrChanged) {
		t.Errorf("Sync = %v, want ErrChanged", err)
	}
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM toys`).Scan(&n); err != nil || n != 3 {
		t.Errorf("after it there are %d rows, %v, want 3", n, err)
	}
}

func TestASyncRemovesWhatAKilledOneHasLeft(t *testing.T) {
	for _, f := range everyToy {
		t.Run(f.Name, func(t *testing.T) {
			p := newPlace(t)
			in := ""
			switch f.Name {
			case "toy":
				p.raw("a.toy", line("a1"))
			case "box":
				p.raw("a.box/talk.jsonl", line("a1"))
				in = "a.box/"
			default:
				p.toys()
			}
			p.again()
			p.add("a", asked("more"))
			old, young := time.Now().Add(-2*time.Hour), time.Now()
			left := func(name string, at time.Time) {
				p.raw(name+"/0", "x")
				for _, path := range []string{name + "/0", name} {
					if err := os.Chtimes(p.path(path), at, at); err != nil {
						t.Fatal(err)
					}
				}
			}
			name := ".skein-MFRGGZDFMZTWQ2LKNNWG23TPO"
			left(name+"A", old)
			left(name+"B", young)
			left(in+name+"C", old)
			left(".skein-1234", old)
			left(".skein-mine", old)
			if err := os.Symlink(p.path(".skein-mine"), p.path(name+"D")); err != nil && runtime.GOOS != "windows" {
				t.Fatal(err)
			}
			if done, err := p.sync(f, "a"); err != nil || done.Events != 1 {
				t.Fatalf("Sync = %+v, %v, want 1 event", done, err)
			}
			for path, stays := range map[string]bool{name + "A": false, name + "B": true, in + name + "C": false, ".skein-1234": true, ".skein-mine": true} {
				if _, err := os.Lstat(p.path(path)); (err == nil) != stays {
					t.Errorf("after a sync %s is there: %v, want %v", path, err == nil, stays)
				}
			}
		})
	}
}
