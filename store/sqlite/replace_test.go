package sqlite

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite/engine"
)

// A file replaces a store only if nobody has written to the store since the
// file was made: sure is called once nobody can write any more.
func TestReplaceAsksWhenNobodyElseCanWrite(t *testing.T) {
	name, other := old(t), old(t)
	s, err := Open(t.Context(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := skein.Add(t.Context(), s, "b", skein.Say(1, skein.UserSays("stored just now"))); err != nil {
		t.Fatal(err)
	}
	d, err := engine.Driver()
	if err != nil {
		t.Fatal(err)
	}
	asked := false
	err = s.replace(t.Context(), d, other, func() error {
		asked = true
		c, err := engine.Connect(d, engine.DSN(name, "mode=rw"), "PRAGMA busy_timeout = 0")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, _, err := c.Exec("BEGIN IMMEDIATE"); !engine.Busy(err) {
			t.Errorf("another writes while it is asked: %v, want that the file is locked", err)
		}
		return errWritten
	})
	if !asked || !errors.Is(err, errWritten) {
		t.Fatalf("replace = %v, asked %v, want %v", err, asked, errWritten)
	}
	if x, err := s.Session(t.Context(), "b"); err != nil || x.Messages != 1 {
		t.Errorf("Session(b) = %d messages, %v; want what was stored just now", x.Messages, err)
	}
	if kept, err := filepath.Glob(name + ".damaged*"); err != nil || len(kept) != 0 {
		t.Errorf("beside it lie %q, %v", kept, err)
	}
	if err := s.replace(t.Context(), d, other, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Session(t.Context(), "b"); !errors.Is(err, skein.ErrNotFound) {
		t.Errorf("Session(b) after it was replaced = %v, want %v", err, skein.ErrNotFound)
	}
}
