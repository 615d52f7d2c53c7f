package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/walk"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/copies"
)

// aging returns a store, and a function that advances its clock.
func aging(t *testing.T, name string) (s *Store, later func(time.Duration)) {
	t.Helper()
	var ahead atomic.Int64
	s, err := Open(t.Context(), name, Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, func(d time.Duration) { ahead.Add(int64(d)) }
}

// rolled returns the path of the copy that Roll makes; "" if it makes none.
func rolled(t *testing.T, s *Store, keep int) string {
	t.Helper()
	due, err := s.Due(t.Context(), keep)
	if err != nil {
		t.Fatal(err)
	}
	path, err := s.Roll(t.Context(), keep)
	if err != nil || due != (path != "") {
		t.Fatalf("Roll = %q, %v; Due said %v", path, err, due)
	}
	return path
}

func TestACopyADayOfWhatChangedAndTheNewestStay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, later := aging(t, name)
	addText(t, s, "a", "one")
	if p := rolled(t, s, 2); p != "" {
		t.Errorf("on its first day the store is copied to %s, want no copy", p)
	}
	later(25 * time.Hour)
	if p := rolled(t, s, 0); p != "" {
		t.Errorf("with no copies wanted there is %s", p)
	}
	var made []string
	for range 3 {
		p := rolled(t, s, 2)
		st, err := os.Stat(p)
		if err != nil || st.Mode().Perm() != 0o600 && os.PathSeparator == '/' {
			t.Fatalf("the copy %s: %v, %v, want it for its owner only", p, st, err)
		}
		made = append(made, p)
		addText(t, s, "a", "one more")
		if p := rolled(t, s, 2); p != "" {
			t.Errorf("on the same day there is another copy %s", p)
		}
		later(25 * time.Hour)
	}
	made = append(made, rolled(t, s, 2))
	later(25 * time.Hour)
	if p := rolled(t, s, 2); p != "" {
		t.Errorf("without a change there is another copy %s", p)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(name), "backups", "*"))
	left = slices.DeleteFunc(left, func(p string) bool { return strings.HasSuffix(p, ".lock") })
	if err != nil || !slices.Equal(left, made[2:]) {
		t.Errorf("there are %q, %v, want %q", left, err, made[2:])
	}
	copied := openTest(t, made[3])
	want, err := walk.All(s.Events(t.Context(), "a", 0))
	got, gerr := walk.All(copied.Events(t.Context(), "a", 0))
	if err != nil || gerr != nil || len(got) != len(want) {
		t.Errorf("the newest copy has %d events, %v; want the %d of the store, %v", len(got), gerr, len(want), err)
	}
}

// endingOnce is a context that ends when over says so.
type endingOnce struct {
	context.Context
	over func() bool
}

func (e endingOnce) Done() <-chan struct{} {
	done := make(chan struct{})
	if e.over() {
		close(done)
	}
	return done
}

func (e endingOnce) Err() error {
	if e.over() {
		return context.Canceled
	}
	return nil
}

// A copy that was interrupted, for whatever reason, leaves nothing under a copy's
// name, and the next one is made; if two are started at once, one is made.
func TestACopyIsWholeOrNotThere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, later := aging(t, name)
	for n := range 40 { // more than one step's worth
		addText(t, s, "a", unpackable(n))
	}
	later(25 * time.Hour)
	begun := func() bool {
		found, err := filepath.Glob(filepath.Join(filepath.Dir(name), "backups", copies.Unfinished+"*"))
		return err == nil && len(found) > 0
	}
	if _, err := s.Roll(endingOnce{t.Context(), begun}, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("Roll of who gave up in the midst of it = %v, want %v", err, context.Canceled)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(name), "backups", "*.db"))
	if err != nil || len(left) > 0 {
		t.Errorf("a copy that was broken off leaves %q, %v", left, err)
	}
	later(2 * time.Hour)
	lock := flock.New(s.rollLock())
	if got, err := lock.TryLock(); !got || err != nil {
		t.Fatal(err)
	}
	if p, err := s.Roll(t.Context(), 3); p != "" || err != nil {
		t.Errorf("Roll while another makes a copy = %q, %v, want none", p, err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	var made atomic.Int64
	for range 4 {
		both.Go(func() {
			p, err := s.Roll(t.Context(), 3)
			if err != nil {
				t.Errorf("Roll = %v", err)
			}
			if p != "" {
				made.Add(1)
			}
		})
	}
	both.Wait()
	if made.Load() != 1 {
		t.Errorf("four at once made %d copies, want 1", made.Load())
	}
}

// A copy of a damaged store does not replace one of an intact store.
func TestADamagedStoreKeepsItsOldCopies(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, later := aging(t, name)
	for range 40 {
		addText(t, s, "a", strings.Repeat("one ", 300))
	}
	later(25 * time.Hour)
	good := rolled(t, s, 1)
	addText(t, s, "b", "one")
	root := s.number(t, `SELECT rootpage FROM sqlite_schema WHERE name = 'events'`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, name, root)
	s, later = aging(t, name)
	later(50 * time.Hour)
	if p, err := s.Roll(t.Context(), 1); !errors.Is(err, skein.ErrCorrupt) {
		t.Errorf("Roll of a damaged store = %q, %v, want %v", p, err, skein.ErrCorrupt)
	}
	if _, err := os.Stat(good); err != nil {
		t.Errorf("the good copy is gone: %v", err)
	}
	if due, _ := s.Due(t.Context(), 1); due {
		t.Error("right after a copy failed, another one is due")
	}
}

// damage overwrites a page of a file that nobody has open.
func damage(t *testing.T, name string, page int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("x", 4096)), (page-1)*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// Every copy is known, wherever it was made, even after the store was restored
// to a state in which it knew of none, or was rebuilt from a damaged one.
func TestEveryCopyIsNamedByAScrub(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	name := filepath.Join(dir, "x.db")
	s, later := aging(t, name)
	addText(t, s, "a", "the word is hunter2secretive")
	first, gone, kept := filepath.Join(elsewhere, "first.db"), filepath.Join(elsewhere, "gone.db"), filepath.Join(elsewhere, "kept.db")
	for _, to := range []string{first, gone} {
		if err := s.Backup(t.Context(), to); err != nil {
			t.Fatal(err)
		}
	}
	later(25 * time.Hour)
	addText(t, s, "a", "one more")
	daily := rolled(t, s, 3)
	if err := s.RestoreBackup(t.Context(), first, kept); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	done, err := s.Scrub(t.Context(), "a", []string{"hunter2secretive"})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(done.Beyond)
	want := []string{first, kept, daily}
	slices.Sort(want)
	if !slices.Equal(done.Beyond, want) || !slices.Equal(done.Moved, []string{gone}) {
		t.Errorf("Scrub names %q and, as moved, %q; want %q and %q", done.Beyond, done.Moved, want, gone)
	}

	root := s.number(t, `SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_seq'`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, name, root)
	s, _ = aging(t, name)
	for _, err := range s.Examine(t.Context(), inspect.Examination{Repair: true}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if done, err = s.Scrub(t.Context(), "a", []string{"again"}); err != nil {
		t.Fatal(err)
	}
	want = append(want, name+".damaged-1")
	slices.Sort(want)
	slices.Sort(done.Beyond)
	if !slices.Equal(done.Beyond, want) || !slices.Equal(done.Moved, []string{gone}) {
		t.Errorf("after a salvage Scrub names %q and, as moved, %q; want %q and %q", done.Beyond, done.Moved, want, gone)
	}
}

// unpackable returns 60 KB of words.
func unpackable(n int) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var b strings.Builder
	for range 6000 {
		fmt.Fprintf(&b, "%09x ", r.Uint64N(1<<36))
	}
	return b.String()
}

// While a copy is made in small steps, others commit: none of them waits for
// the copy.
func TestWritersGoOnWhileTheStoreIsCopied(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, later := aging(t, name)
	for n := range 60 {
		addText(t, s, "a", unpackable(n))
	}
	later(25 * time.Hour)
	done := make(chan error, 1)
	go func() {
		_, err := s.Roll(context.Background(), 3)
		done <- err
	}()
	for n := 0; ; n++ {
		select {
		case err := <-done:
			if err != nil || n == 0 {
				t.Errorf("Roll = %v, and %d were appended meanwhile", err, n)
			}
			return
		default:
			addText(t, s, "b", "meanwhile")
		}
	}
}

// A copy of a store knows the copies of the original, but does not remove them.
func TestOfACopiedStoreTheCopiesOfTheOriginalStay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s, later := aging(t, name)
	addText(t, s, "a", "one")
	later(25 * time.Hour)
	original := rolled(t, s, 3)
	for _, to := range []string{filepath.Join(t.TempDir(), "x.db"), filepath.Join(filepath.Dir(name), "y.db")} {
		whole, err := os.ReadFile(original)
		if err == nil {
			err = os.WriteFile(to, whole, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		copied, later := aging(t, to)
		later(25 * time.Hour)
		var made []string
		for range 4 {
			later(25 * time.Hour)
			addText(t, copied, "a", "one more")
			made = append(made, rolled(t, copied, 1))
		}
		if _, err := os.Stat(original); err != nil {
			t.Errorf("the rolling copies of %s took one of %s away: %v", to, name, err)
		}
		if left, err := filepath.Glob(roll{&copied.backupMaker, 1}.prefix() + "*"); err != nil || !slices.Equal(left, made[3:]) {
			t.Errorf("of %s there are %q, %v, want %q", to, left, err, made[3:])
		}
	}
}

// The caller starts a process for each copy that is due.
func TestNoCopyIsDueWhereNoneCanBeBegun(t *testing.T) {
	for what, spoil := range map[string]func(folder string) error{
		"a plain file":   func(folder string) error { return os.WriteFile(folder, nil, 0o600) },
		"without a lock": func(folder string) error { return os.MkdirAll(filepath.Join(folder, ".x.db.lock"), 0o700) },
		"a link to nothing": func(folder string) error {
			err := os.Symlink(folder+"-gone", folder)
			if err != nil && os.PathSeparator == '\\' { // not every user may create links
				return os.WriteFile(folder, nil, 0o600)
			}
			return err
		},
	} {
		name := filepath.Join(t.TempDir(), "x.db")
		s, later := aging(t, name)
		addText(t, s, "a", "one")
		later(25 * time.Hour)
		if err := spoil(copies.Folder(name)); err != nil {
			t.Fatal(err)
		}
		later(25 * time.Hour)
		if due, err := s.Due(t.Context(), 3); due || err == nil {
			t.Errorf("where backups is %s, Due = %v, %v, want an error", what, due, err)
		}
	}
}

func TestNoCopyIsDueWhileOneIsMadeOrAfterOneFailed(t *testing.T) {
	s, later := aging(t, filepath.Join(t.TempDir(), "x.db"))
	addText(t, s, "a", "one")
	later(25 * time.Hour)
	for range 2 { // asking changes nothing
		if due, err := s.Due(t.Context(), 3); !due || err != nil {
			t.Fatalf("Due = %v, %v, want a copy to be due", due, err)
		}
	}
	lock := flock.New(s.rollLock())
	if got, err := lock.TryLock(); !got || err != nil {
		t.Fatal(err)
	}
	if due, err := s.Due(t.Context(), 3); due || err != nil {
		t.Errorf("while another makes a copy, Due = %v, %v", due, err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	long := endingOnce{t.Context(), func() bool { // a copy that takes two hours, and fails
		found, err := filepath.Glob(filepath.Join(copies.Folder(s.path), copies.Unfinished+"*"))
		if err != nil || len(found) == 0 {
			return false
		}
		later(2 * time.Hour)
		return true
	}}
	for n := range 40 { // more than one step's worth
		addText(t, s, "a", unpackable(n))
	}
	if _, err := s.Roll(long, 3); !errors.Is(err, context.Canceled) {
		t.Fatalf("Roll = %v, want %v", err, context.Canceled)
	}
	if due, err := s.Due(t.Context(), 3); due || err != nil {
		t.Errorf("right after a long copy failed, Due = %v, %v", due, err)
	}
}
