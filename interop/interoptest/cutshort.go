package interoptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// cutShort checks, for a format that can be written: whenever the program is killed while
// it writes a session, for the first time or where it was written before, the next write
// recognizes what was written, and brings it up to date.
func (s writes) cutShort(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	a := anew{s.Suite, t, memory.New(), home, ""}
	defer a.store.Close()
	a.id = composed(t, a.store)
	a.child()
	a.dies("written for the first time")
	a.grow("and now?")
	a.dies("written anew")
}

// dies exports the session, and then from each state of the files in between; in
// the end it is there.
func (a *anew) dies(when string) {
	a.t.Helper()
	before := bytesOf(a.t, a.home)
	var states []map[string]earlierContent
	look := func() {
		now := bytesOf(a.t, a.home)
		if len(states) == 0 || !maps.EqualFunc(states[len(states)-1], now, func(x, y earlierContent) bool { return string(x.data) == string(y.data) }) {
			states = append(states, now)
		}
	}
	if _, err := writeback.Export(a.t.Context(), reportingStore{a.store, look}, a.Format, a.id, a.home, writeback.Exports{}); err != nil {
		a.t.Fatalf("%s: Export() = %v", when, err)
	}
	after := bytesOf(a.t, a.home)
	for i, is := range append(states, half(before, states)...) {
		a.imported(fmt.Sprintf("%s, killed at %d of %d", when, i, len(states)), is)
		layBytes(a.t, a.home, is)
		if _, err := writeback.Export(a.t.Context(), a.store, a.Format, a.id, a.home, writeback.Exports{}); err != nil {
			a.t.Errorf("%s, killed at %d of %d: Export() = %v", when, i, len(states), err)
			continue
		}
		if a.grown() {
			a.stands()
		}
		a.unchanged(when+", again after a kill", a.id)
	}
	layBytes(a.t, a.home, after)
}

// earlierContent is a file's earlier content.
type earlierContent struct {
	data []byte
	mode os.FileMode
	at   time.Time
}

// imported checks that an import, long after the kill, finds nothing there that the
// session does not have.
func (a *anew) imported(when string, is map[string]earlierContent) {
	a.t.Helper()
	layBytes(a.t, a.home, is)
	for f := range is {
		if long := time.Now().Add(-time.Hour); strings.HasSuffix(f, ".skein") {
			if err := os.Chtimes(f, long, long); err != nil {
				a.t.Fatal(err)
			}
		}
	}
	twin := anew{a.Suite, a.t, memory.New(), a.home, ""}
	defer twin.store.Close()
	twin.id = composed(a.t, twin.store)
	twin.child()
	if a.grown() {
		twin.grow("and now?")
	}
	if _, err := os.Stat(a.home); err != nil {
		return
	}
	if rep := a.bring(a.t, twin.store, a.home); rep.Events != 0 || rep.Sessions != 0 {
		a.t.Errorf("%s: Import() = %+v, want nothing that the session has not", when, rep)
	}
}

func (a *anew) grown() bool {
	return strings.Contains(Shown(a.t, a.store, a.id), "and now?")
}

// half returns the possible states if the program is killed before it has written more
// than the side files.
func half(before map[string]earlierContent, states []map[string]earlierContent) (all []map[string]earlierContent) {
	for _, is := range states {
		some := maps.Clone(before)
		before = is
		for f, data := range is {
			if strings.HasSuffix(f, ".skein") && bytes.Contains(data.data, []byte(`"writing":{`)) { // otherwise all of it is written
				some[f] = data
			}
		}
		all = append(all, some)
	}
	return all
}

func bytesOf(t testing.TB, home string) map[string]earlierContent {
	t.Helper()
	all := map[string]earlierContent{}
	if _, err := os.Stat(home); err != nil {
		return all
	}
	for _, f := range files(t, home) {
		info, err := os.Lstat(f)
		if err != nil {
			t.Fatal(err)
		}
		all[f] = earlierContent{read(t, f), info.Mode().Perm(), info.ModTime()}
	}
	return all
}

func layBytes(t testing.TB, home string, all map[string]earlierContent) {
	t.Helper()
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	for f, data := range all {
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, f, data.data)
		if err := errors.Join(os.Chmod(f, data.mode), os.Chtimes(f, data.at, data.at)); err != nil {
			t.Fatal(err)
		}
	}
}

// A reportingStore store reports each request for a session or its events.
type reportingStore struct {
	skein.Store
	look func()
}

func (s reportingStore) Unwrap() skein.Store { return s.Store }

func (s reportingStore) Session(ctx context.Context, id skein.SessionID) (skein.Session, error) {
	s.look()
	return s.Store.Session(ctx, id)
}

func (s reportingStore) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	s.look()
	return s.Store.Events(ctx, id, after)
}
