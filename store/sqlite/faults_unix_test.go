//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/disktest"
	"github.com/skein-dev/skein/store/sqlite"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// fill appends to session a until that fails, and returns the error and how
// many appends were acknowledged.
func fill(s skein.Store) (n int, err error) {
	for {
		if _, err := skein.Add(context.Background(), s, "a", user(strings.Repeat("text that fills the disk ", 400))); err != nil {
			return n, err
		}
		n++
	}
}

// childFill fills the file up to a limit on its size, then continues without
// the limit.
func childFill(args []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := childOpen(args[0])
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	hard := limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 2 << 20, Max: hard}); err != nil {
		return err
	}
	n, err := fill(s)
	fmt.Println("full", errors.Is(err, skein.ErrFull), "acknowledged", n)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: hard, Max: hard}); err != nil {
		return err
	}
	_, err = skein.Add(context.Background(), s, "a", user("there is room again"))
	fmt.Println("then", err)
	return s.Close()
}

func TestFullByLimitLosesNothing(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.db")
	s := open(t, name)
	add(t, s, "a", created())
	shut(t, s)
	c := start(t, "fill", name)
	var n int
	line := c.line()
	if _, err := fmt.Sscanf(line, "full true acknowledged %d", &n); err != nil || n == 0 {
		t.Fatalf("the other process says %q, want that some were acknowledged and it is full", line)
	}
	c.want("then <nil>")
	c.wait()
	s = open(t, name)
	if got := len(events(t, s, "a")); got != n+2 {
		t.Errorf("the session has %d events, want the %d acknowledged ones", got, n+2)
	}
}

func TestFullDiskLosesNothing(t *testing.T) {
	dir := smallDisk(t, "4m")
	name := filepath.Join(dir, "x.db")
	s, err := dial(name)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "a", created())
	n, err := fill(s)
	if !errors.Is(err, skein.ErrFull) || n == 0 {
		t.Errorf("after %d appends to a full disk, Append = %v, want %v", n, err, skein.ErrFull)
	}
	if got := len(events(t, s, "a")); got != n+1 {
		t.Errorf("the session has %d events, want the %d acknowledged ones", got, n+1)
	}
	_ = s.Close() // it may not find room to tidy up
	s, err = dial(name)
	if err != nil {
		t.Fatalf("Open on a full disk = %v", err)
	}
	if got := len(events(t, s, "a")); got != n+1 {
		t.Errorf("opened again, the session has %d events, want the %d acknowledged ones", got, n+1)
	}
	_ = s.Close()
}

// A disk that others have filled to the last byte has no room for the shared
// memory that SQLite creates when it opens a file.
func TestAStoreOnAFullDiskIsRead(t *testing.T) {
	dir := smallDisk(t, "4m")
	name := filepath.Join(dir, "x.db")
	s := open(t, name)
	add(t, s, "a", created(), user("some text"))
	shut(t, s)
	fillDisk(t, dir, "fill")
	full, err := dial(name)
	if err != nil {
		t.Fatalf("Open on a full disk = %v", err)
	}
	if n := len(events(t, full, "a")); n != 2 {
		t.Errorf("the session has %d events, want 2", n)
	}
	if found, err := full.Search(t.Context(), skein.Query{Substring: "some"}); err != nil || len(found.Hits) != 1 {
		t.Errorf("Search = %+v, %v, want one hit", found, err)
	}
	wantBackup(t, full)
	if _, err := skein.Add(t.Context(), full, "a", user("more")); !errors.Is(err, skein.ErrFull) {
		t.Errorf("Append = %v, want %v", err, skein.ErrFull)
	}

	// At first it was read as if nobody wrote to it; once somebody does, that
	// is read too, and writes succeed again.
	watched, ended := make(chan skein.Seq, 8), make(chan error, 1)
	watch := func() error {
		for e, err := range full.Watch(t.Context(), "a", 0) {
			if err != nil {
				return err
			}
			if watched <- e.Seq; e.Seq == 5 {
				break
			}
		}
		return nil
	}
	go func() { ended <- watch() }()
	<-watched
	<-watched
	if err := os.Remove(filepath.Join(dir, "fill")); err != nil {
		t.Fatal(err)
	}
	other := open(t, name)
	add(t, other, "a", user("more"))
	if x, err := full.Session(t.Context(), "a"); err != nil || x.Messages != 2 {
		t.Errorf("Session after another's write = %d messages, %v, want 2", x.Messages, err)
	}
	add(t, full, "a", user("and more"))
	add(t, other, "a", user("of the other"))
	if err := <-ended; err != nil {
		t.Errorf("Watch ends with %v, want all events, those of the other too", err)
	}
	shut(t, full)
}

// What a killed process left in a log is read even if there is no room for the
// log's index; once there is room, everything works again.
func TestALogOnAFullDiskIsRead(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "x.db")
	s := open(t, whole)
	add(t, s, "a", created(), user("some text"))
	dir := smallDisk(t, "4m")
	for _, suffix := range []string{"", "-wal"} { // without the shared memory, as after a restart
		b, err := os.ReadFile(whole + suffix)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "x.db"+suffix), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fillDisk(t, dir, "fill")
	full, err := dial(filepath.Join(dir, "x.db"))
	if err != nil {
		t.Fatalf("Open on a full disk = %v", err)
	}
	if n := len(events(t, full, "a")); n != 2 {
		t.Errorf("the session has %d events, want 2", n)
	}
	wantBackup(t, full)
	if _, err := skein.Add(t.Context(), full, "a", user("more")); !errors.Is(err, skein.ErrFull) {
		t.Errorf("Append = %v, want %v", err, skein.ErrFull)
	}
	if err := os.Remove(filepath.Join(dir, "fill")); err != nil {
		t.Fatal(err)
	}
	sqlite.TryAgain(full.(*sqlite.Store))
	add(t, full, "a", user("more"))
	if n := len(events(t, full, "a")); n != 3 {
		t.Errorf("with room again the session has %d events, want 3", n)
	}
	shut(t, full)
}

// wantBackup backs up to another disk a store whose session a has two events.
func wantBackup(t *testing.T, s skein.Store) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "backup.db")
	if err := s.(*sqlite.Store).Backup(t.Context(), to); err != nil {
		t.Errorf("Backup to another disk = %v", err)
		return
	}
	b := open(t, to)
	defer shut(t, b)
	if n := len(events(t, b, "a")); n != 2 {
		t.Errorf("the session has %d events in the backup, want 2", n)
	}
}

// fillDisk fills the disk with dir to the last byte, with a file.
func fillDisk(t *testing.T, dir, file string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if cerr := f.Close(); cerr != nil || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err, cerr)
	}
}

// smallDisk returns a folder on a disk of the given size.
func smallDisk(t *testing.T, size string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	disktest.Small(t, dir, size)
	return dir
}

// This user may not write to the folder and the file.
func TestReadOnlyFolderIsRead(t *testing.T) {
	readsUnwritable(t, func(string) {})
}

// A file that cannot be migrated where it is can be read there nevertheless.
func TestReadOnlyFolderOfAnEarlierSchemaIsRead(t *testing.T) {
	readsUnwritable(t, func(name string) {
		d, err := engine.Driver()
		if err != nil {
			t.Fatal(err)
		}
		c, err := engine.Connect(d, engine.DSN(name, "mode=rw"))
		if err != nil {
			t.Fatal(err)
		}
		err = c.Script(`DROP TRIGGER events_edited; DROP TRIGGER events_out_of_edits; DROP TABLE edits; DROP TABLE edits_fed; PRAGMA user_version = 1`)
		if err := errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
	})
}

// readsUnwritable has another user read a store whose file was prepared.
func readsUnwritable(t *testing.T, prepare func(name string)) {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	name := filepath.Join(data, "x.db")
	s := open(t, name)
	add(t, s, "a", created(), user("some text"))
	shut(t, s)
	prepare(name)
	if err := os.RemoveAll(name + "-locks"); err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name string
		mode os.FileMode
	}{{name, 0o444}, {data, 0o555}, {dir, 0o755}, {filepath.Dir(dir), 0o755}} {
		if err := os.Chmod(f.name, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(data, 0o700) })
	c := command(t, "read", name, "a")
	if os.Getuid() == 0 { // root may write anywhere
		c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		c.cmd.Path = copySelf(t, dir)
		c.cmd.Dir = "/"
	}
	was := snapshot(t, data)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.want("2 events, 1 hits, read-only: true")
	c.wait()
	if is := snapshot(t, data); len(is) != len(was) {
		t.Errorf("reading a read-only folder leaves %d files, was %d", len(is), len(was))
	}
}

// copySelf copies the test binary to where another user may run it.
func copySelf(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	name := filepath.Join(dir, "self")
	out, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}
