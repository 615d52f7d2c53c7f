package sqlite

import (
	"testing"
	"time"
)

func TestOpenWaitsForAnotherThatHasTheWholeFile(t *testing.T) {
	name := old(t)
	other := testConn(t, name)
	for _, q := range []string{"PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE"} {
		if err := other.script(q); err != nil {
			t.Fatal(err)
		}
	}
	opened := make(chan error, 1)
	go func() {
		s, err := Open(t.Context(), name, Options{})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("Open while another has the file = %v, want that it waits", err)
	case <-time.After(2 * time.Second): // four times what the connection itself waits
	}
	if err := other.script("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("Open when the other is done = %v, want nil", err)
	}
}
