package sqlite

import (
	"context"
	"database/sql/driver"
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/schema"
)

// A watched connection calls before ahead of the nth statement that is prepared
// on it.
type watched struct {
	driver.Conn
	n      int
	before func()
}

func (w *watched) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if w.n--; w.n == 0 {
		w.before()
	}
	return w.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}

// A program creates a new store's tables while another one examines the file,
// which must not take it for a database of another program.
func TestAFileThatIsBegunWhileItIsLookedAt(t *testing.T) {
	d, err := engine.Driver()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 5; n++ {
		name := filepath.Join(t.TempDir(), "x.db")
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := engine.Connect(d, engine.DSN(name, "mode=rw"))
		if err != nil {
			t.Fatal(err)
		}
		c.Wrap(func(raw driver.Conn) driver.Conn {
			return &watched{raw, n, func() {
				s, err := Open(t.Context(), name, Options{})
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
			}}
		})
		if v, err := schema.FileVersion(c); err != nil || v != 0 && v != 4 {
			t.Errorf("fileVersion of a file that is begun ahead of statement %d = %d, %v, want 0 or 4", n, v, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
