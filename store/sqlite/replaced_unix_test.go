//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite"
)

// holding returns a store with one session, and its file.
func holding(t *testing.T, o sqlite.Options) (s *sqlite.Store, name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "x.db")
	s, err := sqlite.Open(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // it may say that its file is gone
	add(t, s, "a", created(), user("one"))
	return s, name
}

// moveAll moves the store's files to another folder, or back.
func moveAll(t *testing.T, from, to string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		if err := os.Rename(from+suffix, to+suffix); err != nil {
			t.Fatal(err)
		}
	}
}

// wantReplaced makes all calls that read and write, which must fail.
func wantReplaced(t *testing.T, s *sqlite.Store) {
	t.Helper()
	var calls sync.WaitGroup
	for range 40 { // most of them wait for one commit
		calls.Go(func() {
			if _, err := skein.Add(t.Context(), s, "a", user("lost")); !errors.Is(err, skein.ErrReplaced) {
				t.Errorf("Append = %v, want %v", err, skein.ErrReplaced)
			}
		})
	}
	calls.Wait()
	_, err := s.Session(t.Context(), "a")
	_, serr := s.Search(t.Context(), skein.Query{Substring: "one"})
	for what, err := range map[string]error{
		"Session": err, "Search": serr, "Events": last(s.Events(t.Context(), "a", 0)), "Watch": last(s.Watch(t.Context(), "a", 0)), "Feed": last(s.Feed(t.Context(), "")),
		"Bin": s.Bin(t.Context(), "a"), "Backup": s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db")),
	} {
		if !errors.Is(err, skein.ErrReplaced) {
			t.Errorf("%s = %v, want %v", what, err, skein.ErrReplaced)
		}
	}
}

// last returns the last error of an iteration.
func last[T any](walk func(func(T, error) bool)) (err error) {
	for _, err = range walk {
	}
	return err
}

func TestARemovedFileIsNotWrittenTo(t *testing.T) {
	for _, gone := range [][]string{{"", "-wal", "-shm"}, {""}, {"-wal"}, {"-shm"}} {
		t.Run("x.db"+strings.Join(gone, " x.db"), func(t *testing.T) {
			s, name := holding(t, sqlite.Options{})
			for _, suffix := range gone {
				if err := os.Remove(name + suffix); err != nil {
					t.Fatal(err)
				}
			}
			wantReplaced(t, s)
			if _, err := os.Stat(name + gone[0]); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("x.db%s is there again (%v)", gone[0], err)
			}
			sqlite.KeepReserve(s) // after one that began while the file was there
			if err := os.RemoveAll(sqlite.Reserve(s)); err != nil {
				t.Fatal(err)
			}
			sqlite.KeepReserve(s)
			_, err := os.Stat(sqlite.Reserve(s))
			if made := err == nil; made != (gone[0] != "") {
				t.Errorf("that a reserve is made is %t (%v), want it if x.db is there", made, err)
			}
		})
	}
}

func TestAFileThatIsGoneFromBesideItsLogIsNotMadeAnew(t *testing.T) {
	for _, gone := range [][]string{{""}, {"", "-wal"}, {"", "-shm"}} {
		t.Run("x.db"+strings.Join(gone, " x.db"), func(t *testing.T) {
			_, name := holding(t, sqlite.Options{})
			away := filepath.Join(t.TempDir(), "away.db")
			moveAll(t, name, away, gone...)
			for range 2 {
				if s, err := dial(name); !errors.Is(err, skein.ErrReplaced) || !strings.Contains(err.Error(), "x.db is gone") {
					t.Fatalf("Open = %v, %v, want %v that says that x.db is gone", s, err, skein.ErrReplaced)
				}
			}
			moveAll(t, away, name, gone...)
			if n := len(events(t, open(t, name), "a")); n != 2 {
				t.Errorf("with the file put back, the session has %d events, want 2", n)
			}
		})
	}
}

func TestAFilePutInThePlaceOfAnotherStaysAsItIs(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.db")
	o := open(t, other)
	add(t, o, "b", created(), user("of the other file"))
	shut(t, o)
	whole, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	s, name := holding(t, sqlite.Options{})
	moveAll(t, other, name, "")
	wantReplaced(t, s)
	_ = s.Close() // it may say that its file is gone
	if now, err := os.ReadFile(name); err != nil || string(now) != string(whole) {
		t.Errorf("the file that was put there was changed (%v)", err)
	}

	// The log of the former file is still beside the new one.
	for range 2 {
		if _, err := dial(name); !errors.Is(err, skein.ErrReplaced) || !strings.Contains(err.Error(), "x.db-wal") || !strings.Contains(err.Error(), "remove "+name+"-pair") {
			t.Fatalf("Open with another file's log = %v, want %v that names it", err, skein.ErrReplaced)
		}
	}
	if now, err := os.ReadFile(name); err != nil || string(now) != string(whole) {
		t.Errorf("the refused Open changed the file (%v)", err)
	}
	if err := errors.Join(os.Remove(name+"-wal"), os.Remove(name+"-shm")); err != nil {
		t.Fatal(err)
	}
	if n := len(events(t, open(t, name), "b")); n != 2 {
		t.Errorf("without that log, the session has %d events, want 2", n)
	}
}

// cp keeps the name and the inode.
func TestAFileThatIsCopiedOverIsNotWrittenTo(t *testing.T) {
	s, name := holding(t, sqlite.Options{})
	other, backup := filepath.Join(t.TempDir(), "other.db"), filepath.Join(t.TempDir(), "backup.db")
	o := open(t, other)
	add(t, o, "b", created(), user("of the other file"))
	shut(t, o)
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("no database ", 4096)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{other, backup, garbage} {
		whole, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(name, whole, 0o600) // as cp does
		}
		if err != nil {
			t.Fatal(err)
		}
		wantReplaced(t, s)
		if now, err := os.ReadFile(name); err != nil || string(now) != string(whole) {
			t.Errorf("%s was changed after it was copied there (%v)", filepath.Base(from), err)
		}
		if err := os.WriteFile(name, own, 0o600); err != nil {
			t.Fatal(err)
		}
		add(t, s, "a", user("it is back"))
	}
	if n := len(events(t, s, "a")); n != 5 {
		t.Errorf("back in its place, the session has %d events, want 5", n)
	}
}

// A process that still has the former file open does not change it when it
// ends, nor does the next start.
func TestAFileThatIsCopiedOverStaysWhenItsLogIsLeft(t *testing.T) {
	s, name := holding(t, sqlite.Options{})
	other := filepath.Join(t.TempDir(), "other.db")
	o := open(t, other)
	add(t, o, "b", created(), user("of the other file"))
	shut(t, o)
	whole, err := os.ReadFile(other)
	if err == nil {
		err = os.WriteFile(name, whole, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, skein.ErrReplaced) {
		t.Errorf("Close = %v, want %v", err, skein.ErrReplaced)
	}
	if _, err := dial(name); !errors.Is(err, skein.ErrReplaced) {
		t.Errorf("Open beside the former file's log = %v, want %v", err, skein.ErrReplaced)
	}
	if now, err := os.ReadFile(name); err != nil || string(now) != string(whole) {
		t.Errorf("the file that was copied there was changed (%v)", err)
	}
}

// The log is not checkpointed into it either.
func TestAFileThatIsCopiedOverGetsNoLog(t *testing.T) {
	s, name := holding(t, sqlite.Options{})
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	add(t, s, "a", user("in the log"))
	whole, err := os.ReadFile(backup)
	if err == nil {
		err = os.WriteFile(name, whole, 0o600) // as cp does
	}
	if err != nil {
		t.Fatal(err)
	}
	if emptied, err := sqlite.EmptyLog(s); emptied || !errors.Is(err, skein.ErrReplaced) {
		t.Errorf("EmptyLog = %v, %v, want %v", emptied, err, skein.ErrReplaced)
	}
	if now, err := os.ReadFile(name); err != nil || string(now) != string(whole) {
		t.Errorf("the file that was copied there was changed (%v)", err)
	}
}

// Restoring a backup, a salvage and a checkpoint change the database, but for
// everybody who has it open it is still the same store.
func TestAStoreThatIsPutBackIsTheSame(t *testing.T) {
	s, name := holding(t, sqlite.Options{})
	other := open(t, name)
	dir := t.TempDir()
	for n := range 3 {
		copied := filepath.Join(dir, fmt.Sprint(n))
		if err := s.Backup(t.Context(), copied); err != nil {
			t.Fatal(err)
		}
		if err := s.RestoreBackup(t.Context(), copied, copied+"-kept"); err != nil {
			t.Fatal(err)
		}
		add(t, other, "a", user("more"))
		add(t, s, "a", user("more"))
	}
}

func TestAFilePutBackGoesOn(t *testing.T) {
	var mu sync.Mutex
	var told []string
	s, name := holding(t, sqlite.Options{Notice: func(text string) { mu.Lock(); told = append(told, text); mu.Unlock() }})
	elsewhere := filepath.Join(t.TempDir(), "x.db")
	moveAll(t, name, elsewhere, "", "-wal", "-shm")
	wantReplaced(t, s)
	moveAll(t, elsewhere, name, "", "-wal", "-shm")
	add(t, s, "a", user("two"))
	if n := len(events(t, s, "a")); n != 3 {
		t.Errorf("back in its place, the session has %d events, want 3", n)
	}
	if len(told) != 1 || !strings.Contains(told[0], name) {
		t.Errorf("Notice was told %q, want it once, with %s", told, name)
	}
}

// What was committed while the file was removed may be in it or not.
func TestACommitToAFileThatGoesIsUnknown(t *testing.T) {
	s, name := holding(t, sqlite.Options{})
	elsewhere := filepath.Join(t.TempDir(), "x.db")
	err := sqlite.Within(s, func() { moveAll(t, name, elsewhere, "") })
	if !errors.Is(err, skein.ErrUnknown) || !errors.Is(err, skein.ErrReplaced) {
		t.Errorf("a commit while the file goes away = %v, want %v, %v", err, skein.ErrUnknown, skein.ErrReplaced)
	}
	moveAll(t, elsewhere, name, "")
}

func TestWatchersAreToldThatTheFileIsGone(t *testing.T) {
	s, name := holding(t, sqlite.Options{})
	started := make(chan struct{}, 2)
	ended := make(chan error, 2)
	go func() {
		for e, err := range s.Watch(context.Background(), "a", 0) {
			if err != nil {
				ended <- err
			} else if e.Seq == 2 {
				started <- struct{}{}
			}
		}
	}()
	go func() {
		for f, err := range s.Feed(context.Background(), "") {
			if err != nil {
				ended <- err
			} else if f.Event.Seq == 2 {
				started <- struct{}{}
			}
		}
	}()
	<-started
	<-started
	moveAll(t, name, filepath.Join(t.TempDir(), "x.db"), "")
	for range 2 {
		if err := <-ended; !errors.Is(err, skein.ErrReplaced) {
			t.Errorf("a watch of a file that was moved away ends with %v, want %v", err, skein.ErrReplaced)
		}
	}
}

// A log that is not empty stays valid if it is copied together with its file.
func TestACopyOfFileAndLogIsOpened(t *testing.T) {
	s, name := holding(t, sqlite.Options{})
	dir := t.TempDir()
	for file, data := range snapshot(t, filepath.Dir(name)) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shut(t, s)
	if n := len(events(t, open(t, filepath.Join(dir, "x.db")), "a")); n != 2 {
		t.Errorf("in the copy the session has %d events, want 2", n)
	}
	if left := slices.Sorted(maps.Keys(snapshot(t, filepath.Dir(name)))); !slices.Equal(left, []string{"x.db", "x.db-reserve"}) {
		t.Errorf("a closed store leaves %q, want x.db and its reserve only", left)
	}
}

// A log that was written for another store is not applied, whether or not that store's
// note came along; one that was copied with its own file is.
func TestALogOfAnotherStoreIsNotApplied(t *testing.T) {
	logged := func(words string) (files map[string]string) {
		s, name := holding(t, sqlite.Options{})
		for i := range 30 {
			add(t, s, "a", user(fmt.Sprintf("%s %d", strings.Repeat(words, 5+i%7), i)))
		}
		if _, err := sqlite.EmptyLog(s); err != nil {
			t.Fatal(err)
		}
		add(t, s, "a", user("the last of "+words))
		return snapshot(t, filepath.Dir(name))
	}
	one, other := logged("walrus "), logged("carpenter and oysters ")
	for what, noted := range map[string]bool{"alone": false, "with its note": true} {
		t.Run(what, func(t *testing.T) {
			for mine, log := range map[string]map[string]string{"own": one, "other": other} {
				name := filepath.Join(t.TempDir(), "x.db")
				put := map[string]string{"": one["x.db"], "-wal": log["x.db-wal"]}
				if noted {
					put["-pair"] = log["x.db-pair"]
				}
				for suffix, data := range put {
					if err := os.WriteFile(name+suffix, []byte(data), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				s, err := dial(name)
				if mine == "own" {
					if err != nil {
						t.Fatalf("Open beside its own log = %v", err)
					}
					if n := len(events(t, s, "a")); n != 33 {
						t.Errorf("the session has %d events, want 33", n)
					}
					shut(t, s)
					continue
				}
				if !errors.Is(err, skein.ErrReplaced) {
					t.Errorf("Open beside the log of another store = %v, want %v", err, skein.ErrReplaced)
				}
				for suffix, data := range put {
					if now, err := os.ReadFile(name + suffix); err != nil || string(now) != data {
						t.Errorf("x.db%s was changed (%v)", suffix, err)
					}
				}
			}
		})
	}
}

// Two files of one store have the same sessions and events under the same numbers, and
// still neither the log of the one fits a backup, nor a later log an earlier copy.
func TestALogOfTheSameEventsIsNotApplied(t *testing.T) {
	s, name := holding(t, sqlite.Options{})
	for i := range 30 {
		add(t, s, "a", user(fmt.Sprintf("%s %d", strings.Repeat("walrus ", 5+i%7), i)))
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	var before []map[string]string // the files just after each log was checkpointed
	for range 3 {
		if _, err := sqlite.EmptyLog(s); err != nil {
			t.Fatal(err)
		}
		before = append(before, snapshot(t, filepath.Dir(name)))
		for range 3 {
			add(t, s, "a", user("more of it"))
		}
	}
	now := snapshot(t, filepath.Dir(name))
	other, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what, file string
		want       error
	}{
		{"a backup", string(other), skein.ErrReplaced},
		{"the file of two logs before", before[0]["x.db"], skein.ErrReplaced},
		{"the file of a log before", before[1]["x.db"], skein.ErrReplaced},
		{"its own file", before[2]["x.db"], nil},
		{"its own file as it is now", now["x.db"], nil},
	} {
		t.Run(tt.what, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "x.db")
			if err := errors.Join(os.WriteFile(name, []byte(tt.file), 0o600), os.WriteFile(name+"-wal", []byte(now["x.db-wal"]), 0o600)); err != nil {
				t.Fatal(err)
			}
			s, err := dial(name)
			if !errors.Is(err, tt.want) {
				t.Fatalf("Open = %v, want %v", err, tt.want)
			}
			if err == nil {
				if n := len(events(t, s, "a")); n != 41 {
					t.Errorf("the session has %d events, want 41", n)
				}
				shut(t, s)
			} else if is, err := os.ReadFile(name); err != nil || string(is) != tt.file {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// A store that was restored from a backup of another, or of a time when it had more logs,
// is still opened with the log that a killed program left.
func TestARestoredStoreIsOpenedWithItsLog(t *testing.T) {
	o, _ := holding(t, sqlite.Options{})
	backup := filepath.Join(t.TempDir(), "other.db")
	for range 4 { // more marks than the store has
		add(t, o, "a", user("of the other"))
		if _, err := sqlite.EmptyLog(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	s, name := holding(t, sqlite.Options{})
	if _, err := sqlite.EmptyLog(s); err != nil {
		t.Fatal(err)
	}
	if err := s.RestoreBackup(t.Context(), backup, filepath.Join(t.TempDir(), "kept.db")); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		left := snapshot(t, filepath.Dir(name))
		dir := t.TempDir()
		for file, data := range left {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := dial(filepath.Join(dir, "x.db"))
		if err != nil {
			t.Fatalf("Open after a restore = %v", err)
		}
		shut(t, c)
		add(t, s, "a", user("goes on"))
	}
}
