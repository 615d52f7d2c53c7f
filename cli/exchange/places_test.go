package exchange

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

// TestThePageOfFormatsSaysWhatTheyRecordOfPlaces generates the table of what records
// say about repositories, from what the importers make of the formats' test files.
func TestThePageOfFormatsSaysWhatTheyRecordOfPlaces(t *testing.T) {
	head := []byte("| format | repository | branch | commit | folder |\n")
	page, err := os.ReadFile(formatsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(page, head)
	if !ok {
		t.Fatalf("%s has no table that begins\n%s", formatsPage, head)
	}
	_, after, ok := bytes.Cut(rest, []byte("\n\n"))
	if !ok {
		t.Fatalf("%s has nothing after the table that begins\n%s", formatsPage, head)
	}
	want := slices.Concat(before, head, []byte("| --- | --- | --- | --- | --- |\n"+placeRows(t)+"\n"), after)
	if *update {
		if err := os.WriteFile(formatsPage, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(page), string(want)); diff != "" {
		t.Errorf("the table of places in %s (-page +formats); go test ./cli/exchange -run ThePageOfFormats -update writes it:\n%s", formatsPage, diff)
	}
}

// placeRows returns the table's rows, one for each format that records something.
func placeRows(t *testing.T) string {
	s := memory.New()
	defer s.Close()
	if _, err := importer.Import(t.Context(), s, All(), []string{"../../interop/formats"}, interop.Options{}); err != nil {
		t.Fatal(err)
	}
	of := map[string]*recorded{}
	for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if sess.Origin == nil {
			continue
		}
		r := of[sess.Origin.Format]
		if r == nil {
			r = &recorded{}
			of[sess.Origin.Format] = r
		}
		r.session(t, s, sess.ID)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if r := of[name]; *r != (recorded{}) {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", name, extents[r.repository], extents[r.branch], extents[r.commit], extents[r.folder])
		}
	}
	return b.String()
}

// recorded is how much a format records of each.
type recorded struct{ repository, branch, commit, folder extent }

type extent int

const (
	atBeginning extent = iota + 1
	asItChanges
)

var extents = map[extent]string{0: "–", atBeginning: "at the beginning", asItChanges: "as it changes"}

// session adds what the events of a session say.
func (r *recorded) session(t *testing.T, s skein.Store, id skein.SessionID) {
	t.Helper()
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		f, err := skein.FactsOf(e)
		switch {
		case err != nil:
			t.Fatal(err)
		case f.Created != nil:
			r.says(atBeginning, f.Created.Checkout, f.Created.Cwd)
		case f.Changed != nil && f.Changed.Cwd != nil:
			r.says(asItChanges, f.Changed.Checkout, *f.Changed.Cwd)
		case f.Changed != nil:
			r.says(asItChanges, f.Changed.Checkout, "")
		}
	}
}

func (r *recorded) says(how extent, x *skein.Checkout, cwd string) {
	if x == nil {
		x = &skein.Checkout{}
	}
	for _, said := range []struct {
		value string
		has   *extent
	}{{x.Repository, &r.repository}, {x.Branch, &r.branch}, {x.Commit, &r.commit}, {cwd, &r.folder}} {
		if said.value != "" {
			*said.has = max(*said.has, how)
		}
	}
}
