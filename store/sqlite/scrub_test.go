package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// After a scrub, the secret is in no byte of the file or its log: not in the
// index, not in free pages, not in old versions of rows.
func TestScrubLeavesNoByte(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	const secret = "hunter2secretivewatchword"
	addText(t, s, "a", "the door opens to "+secret, "nothing here")
	for range 40 {
		addText(t, s, "b", "something else to fill pages with")
	}
	find(t, s, secret)
	done, err := s.Scrub(t.Context(), "a", []string{secret})
	if err != nil || done.Events != 1 {
		t.Fatalf("Scrub = %+v, %v, want 1 event", done, err)
	}
	for _, file := range []string{name, name + "-wal"} {
		data, err := os.ReadFile(file) // OFD locks survive the close
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if i := bytes.Index(bytes.ToLower(data), []byte(secret)); i >= 0 {
			t.Errorf("%s has the secret at byte %d", filepath.Base(file), i)
		}
	}
	if r := find(t, s, "door"); len(r.Hits) != 1 {
		t.Errorf("Search finds %d of the other words, want 1", len(r.Hits))
	}
	for e, err := range s.Events(context.Background(), "a", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(e.Payload, []byte("hunter2")) {
			t.Errorf("event %d has the secret: %s", e.Seq, e.Payload)
		}
	}
	sess, err := s.Session(t.Context(), "a")
	if err != nil || sess.Revision != 1 || sess.First != "the door opens to *************************" {
		t.Errorf("Session = revision %d, first words %q, %v", sess.Revision, sess.First, err)
	}
}

// A reader of an earlier state keeps its bytes in the log: Scrub reports that,
// and callers can wait for it.
func TestScrubSaysWhatAReaderKeeps(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.db")
	s := openTest(t, name)
	const secret = "hunter2secretivewatchword"
	addText(t, s, "a", "the door opens to "+secret)
	reader := testConn(t, name)
	var n int64
	if _, _, err := reader.Exec("BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.One("SELECT count(*) FROM events", nil, &n); err != nil {
		t.Fatal(err)
	}
	done, err := s.Scrub(t.Context(), "a", []string{secret})
	if err != nil || !strings.Contains(done.Pending, "a.db-wal") || runtime.GOOS == "linux" && !strings.Contains(done.Pending, "this program itself") {
		t.Fatalf("Scrub beside a reader = %+v, %v, want that the log a.db-wal keeps something, and for whom", done, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Swept(over); !errors.Is(err, context.Canceled) {
		t.Errorf("Swept of who gave up = %v, want %v", err, context.Canceled)
	}
	swept := make(chan error, 1)
	go func() { swept <- s.Swept(context.Background()) }()
	if _, _, err := reader.Exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-swept; err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{name, name + "-wal"} {
		data, err := os.ReadFile(file) // OFD locks survive the close
		if err != nil && !os.IsNotExist(err) || bytes.Contains(data, []byte(secret)) {
			t.Errorf("%s after Swept has the secret, or %v", filepath.Base(file), err)
		}
	}
	if done, err := s.Scrub(t.Context(), "a", []string{"the door"}); err != nil || done.Pending != "" {
		t.Errorf("Scrub without a reader leaves %q, %v, want nothing", done.Pending, err)
	}
}

// Restoring a backup brings back its content, even for a process that had the
// store open.
func TestBackupComesBack(t *testing.T) {
	dir := t.TempDir()
	name, copied, kept := filepath.Join(dir, "a.db"), filepath.Join(dir, "copy.db"), filepath.Join(dir, "kept.db")
	s := openTest(t, name)
	addText(t, s, "a", "first")
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	addText(t, s, "a", "second")
	other := openTest(t, name)
	if err := other.RestoreBackup(t.Context(), copied, kept); err != nil {
		t.Fatal(err)
	}
	addText(t, s, "a", "third")
	var got []string
	entries, err := other.Newest(t.Context(), "a", 10, 0)
	for _, e := range entries {
		got = append(got, e.Message.Words())
	}
	if err != nil || len(got) != 2 || got[0] != "first" || got[1] != "third" {
		t.Errorf("after RestoreBackup and an append the messages are %q, %v, want first and third", got, err)
	}
	back := openTest(t, kept)
	if x, err := back.Session(t.Context(), "a"); err != nil || x.Messages != 2 {
		t.Errorf("the copy kept has %d messages, %v, want 2", x.Messages, err)
	}
	for f := range s.Examine(t.Context(), inspect.Examination{}) {
		if f.Level == inspect.Damaged {
			t.Errorf("after RestoreBackup: %s: %s", f.Area, f.Text)
		}
	}
}

func TestAScrubTakesSecretsOutOfDamagedRecordsAndDoesNotBlessThem(t *testing.T) {
	s := openTest(t, filepath.Join(t.TempDir(), "x.db"))
	const secret = "hunter22-hunter22"
	raw := []byte{}
	for i := range 200 { // incompressible
		raw = append(raw, byte(i*i), byte(i))
	}
	rs := []skein.Record{{Raw: append(raw, secret...)}}
	importLines(t, s, skein.Import{Records: rs}, skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(1, skein.UserSays("one")))
	alter := func() {
		t.Helper()
		if err := s.change(t.Context(), func(tx *txn.Tx) error {
			_, _, err := tx.Exec(`UPDATE records SET raw = CAST(substr(raw, 1, 100) || x'00' || substr(raw, 102) AS BLOB)`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	alter()
	if d, err := s.Scrub(t.Context(), "a", []string{secret}); err != nil || d.UnreadRecords != 1 || d.Records != 0 {
		t.Errorf("Scrub = %+v, %v, want 1 record that could not be looked at", d, err)
	}
	var left int64
	err := s.read(t.Context(), func(c *engine.Conn) error {
		_, err := c.One(`SELECT count(*) FROM records WHERE instr(raw, CAST(? AS BLOB))`, []any{secret}, &left)
		return err
	})
	if err != nil || left != 0 {
		t.Errorf("after a scrub %d blocks have the secret (%v)", left, err)
	}
	for r, err := range s.Records(t.Context(), "f", "/x", 0) {
		if bad := (*skein.DamagedRecordsError)(nil); !errors.As(err, &bad) {
			t.Errorf("after a scrub Records yields %q, %v, want that it is damaged still", r.Raw, err)
		}
	}
}
