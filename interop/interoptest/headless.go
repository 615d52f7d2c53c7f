package interoptest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/discover"
	"github.com/skein-dev/skein/store/memory"
)

// headless checks, for a format of folders: a folder that is being written and does not
// say yet what it is, is waited for, and is then read as if it had been complete from
// the start; one that stays without a head is read without it.
func (s Suite) headless(t *testing.T, name string) {
	from := lay(t, filepath.Join(s.Dir, name))
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var heads []string
	headed := s.headed(t, from)
	for _, f := range files(t, from) {
		switch unit := s.Format.Unit(filepath.ToSlash(f)); {
		case headed[unit] && s.isHead(t, f):
			heads = append(heads, f)
		case unit == "" || headed[unit]:
			write(t, placeFor(t, root, from, f), read(t, f))
		}
	}
	early := memory.New()
	defer early.Close()
	rep := s.bring(t, early, root)
	if got := stands(t, early); len(got) > 0 {
		t.Errorf("Import of folders that are being written without %s = sessions %v, want none yet", heads, got)
	}
	if len(rep.Skips) == 0 {
		t.Errorf("Import of folders that are being written without %s names none", heads)
	}
	for _, skip := range rep.Skips {
		if !strings.Contains(skip.Why, "does not exist yet") {
			t.Errorf("%s: %s, want what does not exist yet", skip.Path, skip.Why)
		}
	}
	found, _, err := discover.Find(context.Background(), early, []interop.Format{s.Format}, []string{root})
	if err != nil || len(found) != 1 || found[0].New < len(rep.Skips) {
		t.Errorf("Find beside folders that are being written without %s = %+v, %v, want them counted", heads, found, err)
	}
	late := memory.New()
	defer late.Close()
	then := time.Now().Add(-interop.TornFor)
	for _, f := range files(t, root) {
		if err := os.Chtimes(f, then, then); err != nil {
			t.Fatal(err)
		}
	}
	if rep := s.bring(t, late, root); rep.Skipped != 0 {
		t.Errorf("Import of folders that stayed without %s = %+v, want all of it read", heads, rep)
	}
	for _, f := range heads {
		write(t, placeFor(t, root, from, f), read(t, f))
	}
	s.bring(t, early, root)
	want := memory.New()
	defer want.Close()
	s.bring(t, want, root)
	if diff := cmp.Diff(said(t, want), said(t, early)); diff != "" {
		t.Errorf("after %s came (-import at once +import before and after):\n%s", heads, diff)
	}
	if diff := cmp.Diff(stands(t, want), stands(t, early)); diff != "" {
		t.Errorf("after %s came, the sessions (-import at once +import before and after):\n%s", heads, diff)
	}
}

// headed returns the units at root that have a head, and a whole one.
func (s Suite) headed(t testing.TB, root string) map[string]bool {
	t.Helper()
	units := map[string]bool{}
	for _, f := range files(t, root) {
		if s.isHead(t, f) && jsontext.Value(read(t, f)).IsValid() {
			units[s.Format.Unit(filepath.ToSlash(f))] = true
		}
	}
	return units
}

func (s Suite) isHead(t testing.TB, f string) bool {
	t.Helper()
	unit := s.Format.Unit(filepath.ToSlash(f))
	if unit == "" || s.Head == nil {
		return false
	}
	rel, err := filepath.Rel(filepath.FromSlash(unit), f)
	if err != nil {
		t.Fatal(err)
	}
	return s.Head(unit, filepath.ToSlash(rel))
}

// properties are the properties of a session, without its messages.
type properties struct {
	Title, Agent, Cwd, Project string
	Parent                     skein.SessionID
	Why                        string
}

// stands returns the properties of all sessions.
func stands(t testing.TB, s *memory.Store) map[skein.SessionID]properties {
	t.Helper()
	all := map[skein.SessionID]properties{}
	for sess, err := range s.Sessions(context.Background(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		is := properties{Title: sess.Title, Agent: sess.Agent, Cwd: sess.Cwd, Project: sess.Project}
		if p := sess.Parent; p != nil {
			is.Parent, is.Why = p.Session, string(p.Why)
		}
		all[sess.ID] = is
	}
	return all
}
