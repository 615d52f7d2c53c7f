package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein/store/sqlite/files"
	"github.com/skein-dev/skein/store/sqlite/schema"
)

func TestOpenWaitsForAnotherThatHasTheWholeFile(t *testing.T) {
	name := old(t)
	other := testConn(t, name)
	for _, q := range []string{"PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE"} {
		if err := other.Script(q); err != nil {
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
	case <-time.After(2 * time.Second): // four times as long as the connection itself waits
	}
	if err := other.Script("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Errorf("Open when the other is done = %v, want nil", err)
	}
}

// Open returns when its context ends, although another process has the file locked.
func TestOpenEndsWithItsContext(t *testing.T) {
	name := old(t)
	other := testConn(t, name)
	for _, q := range []string{"PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE"} {
		if err := other.Script(q); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, name, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a ctx that has ended, while another has the file = %v, want %v", err, context.Canceled)
	}
}

// A migration may take long to copy a large file.
func TestACopyThatGrowsIsWaitedFor(t *testing.T) {
	name := old(t)
	to := name + ".v2.bak"
	before := schema.Moving(name)
	for _, text := range []string{"a", "ab"} {
		if err := os.WriteFile(to+".tmp", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		after := schema.Moving(name)
		if after == before {
			t.Errorf("while the copy grows, what is waited for stays %v", before)
		}
		before = after
	}
}

// A migration may work long between two writes.
func TestAMigrationShowsThatItGoesOn(t *testing.T) {
	name := old(t)
	c := testConn(t, name)
	seen := make(chan error, 1)
	notice := func(string) { // it is called in the middle of the migration, which waits for it
		before, late := schema.Moving(name), time.After(3*time.Minute)
		looks := time.NewTicker(schema.AliveEvery / 10)
		defer looks.Stop()
		for schema.Moving(name) == before {
			select {
			case <-looks.C:
			case <-late:
				seen <- fmt.Errorf("what is waited for stays %v", before)
				return
			}
		}
		seen <- nil
	}
	if err := schema.Migrate(t.Context(), c, name, later(t), notice); err != nil {
		t.Fatal(err)
	}
	if err := <-seen; err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(name + ".v*.tmp")
	if err != nil || len(left) > 0 {
		t.Errorf("after it there are %v, %v; want nothing", left, err)
	}
}

// If the path is a link to the store, the log beside the store itself is checked.
func TestWrittenFollowsLinks(t *testing.T) {
	name := old(t)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(name, link); err != nil {
		t.Fatal(err)
	}
	other := testConn(t, name)
	before := files.Written(link)
	if err := other.Script("PRAGMA user_version = 77"); err != nil {
		t.Fatal(err)
	}
	if after := files.Written(link); after == before {
		t.Errorf("written of a link after a commit = %v, as before it", after)
	}
}

// A store that is opened while many others write waits for its turn, however
// long that takes, and gives up only if nothing changes.
func TestOpenWaitsAsLongAsOthersWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const writes = 40 // one every 5 s: more than six times openPatience
		begin := time.Now()
		ctx, cancel := schema.WhileChanging(t.Context(), schema.OpenPatience, func() any {
			return min(time.Since(begin)/(5*time.Second), writes)
		})
		defer cancel()
		<-ctx.Done()
		least := writes*5*time.Second + schema.OpenPatience
		if took := time.Since(begin); took < least || took > least+schema.OpenPatience/5 {
			t.Errorf("the wait ended after %s, want %s: the patience after the last write", took, least)
		}
	})
}

func TestWrittenChangesWithEveryCommit(t *testing.T) {
	name := old(t)
	other := testConn(t, name)
	before := files.Written(name)
	if err := other.Script("PRAGMA user_version = 77"); err != nil {
		t.Fatal(err)
	}
	if after := files.Written(name); after == before {
		t.Errorf("written after a commit = %v, as before it", after)
	}
}
