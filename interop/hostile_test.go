package interop_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/records"
)

// The name of a file that a store returns may come from somebody else.
func TestNoFileIsWrittenOutOfItsFolder(t *testing.T) {
	for _, name := range []string{"../evil", "/evil", "a/../../evil", `..\evil`, "a/./../../evil", "..", ".", "", "C:evil\x00"} {
		home := t.TempDir()
		unit := filepath.Join(home, "in", "x.box")
		lines := folder.Piece(name, 0, []byte("evil")).Append(nil)
		lines = folder.End(folder.File{Name: name, Mode: 0o600}, 1).Append(lines)
		err := interop.PutFolder(t.Context(), unit, []interop.Part{{Lines: strings.NewReader(string(lines))}})
		for file := range tree(t, home) {
			if !strings.HasPrefix(file, "in/x.box/") {
				t.Errorf("PutFolder of a file %q writes %s (%v)", name, file, err)
			}
		}
	}
}

func TestAFileOfTooManyRecordsIsReadAsFarAsMemoryGoes(t *testing.T) {
	lines := strings.Repeat("\n", interop.MaxRecords+5)
	n := 0
	err := records.Scan(toy(), interop.File{Path: "/x.toy"}, strings.NewReader(lines), func(skein.Record, interop.Made) error { n++; return nil })
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(interop.MaxRecords)) || n != interop.MaxRecords {
		t.Errorf("Scan of %d records gives %d and %v, want %d and an error that says so", len(lines), n, err, interop.MaxRecords)
	}
}

// Two sessions of one file may ask for the same ID before a store knows of
// either.
func TestChildrenWithTheIDOfTheirParentAreTheirOwn(t *testing.T) {
	p := newPlace(t)
	p.write("a.toy", "a1", "a2/a", "a3/b", "a4/a")
	if rep := p.bring(interop.Options{}); rep.Sessions != 3 {
		t.Errorf("Import = %+v, want 3 sessions", rep)
	}
	if rep := p.bring(interop.Options{}); rep.Events != 0 {
		t.Errorf("second Import = %+v, want nothing new", rep)
	}
	p.wants("a", "created a1")
}
