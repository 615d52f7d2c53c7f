package interoptest

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// How many records in a run are unknown to the format, in a file of lines and in a
// folder, where each may be a file.
const (
	unknownRun = 400
	folderRun  = 60
)

// Unheard checks what Run does about records that the format does not know, for rows of
// another kind or in another order.
func Unheard(t *testing.T, s Suite) {
	for _, name := range s.cases(t) {
		t.Run(name, func(t *testing.T) { unknowns{s}.unknown(t, name) })
	}
}

// unknown checks, for what is in files of lines, and in the files of a folder: runs of
// records that the format does not know, whatever they say, cost no more events than
// they have kilobytes, hide nothing of the conversation, are kept byte for byte, and
// give the same result if the file ended in the middle of one when it was read before.
func (s unknowns) unknown(t *testing.T, name string) {
	for what, record := range map[string]func(int) string{
		"numbers":     func(i int) string { return fmt.Sprintf(`{"x":%d}`, i) },
		"two kinds":   func(i int) string { return fmt.Sprintf(`{"%c":%d}`, 'x'+i%2, i/2) },
		"seven types": func(i int) string { return fmt.Sprintf(`{"type":"unheard-of-%d","n":%d}`, i%7, i) },
	} {
		t.Run(what, func(t *testing.T) { s.unknownOf(t, name, record) })
	}
}

func (s unknowns) unknownOf(t *testing.T, name string, record func(int) string) {
	plain, root := lay(t, filepath.Join(s.Dir, name)), lay(t, filepath.Join(s.Dir, name))
	n := 0
	half, whole, runs := s.withUnknown(t, root, func() string {
		n++
		return record(n) // a different one in each file: one that two have may be a copy
	})
	if len(whole) == 0 {
		return // all of it is packed, in a database, or ends in a torn line
	}
	want := memory.New()
	defer want.Close()
	s.bring(t, want, plain)
	store := memory.New()
	defer store.Close()
	s.writeAll(t, root, whole)
	s.bring(t, store, root)

	junk := s.recordBytes(t, root) - s.recordBytes(t, plain)
	if more, most := total(t, store)-total(t, want), 2*runs+junk/1000; more > most {
		t.Errorf("%d unknown records of %d bytes make %d events, want at most %d", n, junk, more, most)
	}
	if diff := cmp.Diff(said(t, want), said(t, store)); diff != "" {
		t.Errorf("unknown records change what was said (-without +with):\n%s", diff)
	}
	for f, data := range whole {
		if s.unit(f) != "" {
			continue
		}
		var got bytes.Buffer
		if err := writeback.WriteSource(context.Background(), store, s.Format.Name, f, &got); err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("WriteSource(%s) gives %d bytes, %v; want the file's %d", filepath.Base(f), got.Len(), err, len(data))
		}
	}
	if s.Format.Look != nil {
		s.sameAgain(t, store, root)
	}
	s.unknownGrow(t, root, half, whole, dump(t, store, root), total(t, store))
}

// withUnknown returns the files below root that change when runs of unknown records are
// put into all of them, and what is in them up to the middle of the last run of each;
// and how many runs there are. In a folder whose files are records of some type, a run
// is files.
func (s unknowns) withUnknown(t *testing.T, root string, next func() string) (half, whole map[string][]byte, runs int) {
	t.Helper()
	half, whole = map[string][]byte{}, map[string][]byte{}
	beside := map[string]bool{} // folders that have a run of files
	for _, f := range files(t, root) {
		data, unit := read(t, f), s.unit(f)
		_, packed := disk.PlainName(f)
		ended := len(data) > 0 && data[len(data)-1] == '\n'
		switch {
		case unit == "" && !packed && ended && matches(s.Format, f, data):
			half[f], whole[f] = withRuns(data, unknownRun, next)
			runs += 3
		case unit == f && s.Unheard != "":
			half[f] = withRows(t, s.Unheard, data, 0, unknownRun/4, next)
			whole[f] = withRows(t, s.Unheard, half[f], unknownRun/4, unknownRun/4, next)
			runs += sourcesIn(t, s.Format, f)
		case unit == "" || unit == f:
		case s.isOfLines(t, unit, f):
			if ended {
				half[f], whole[f] = withRuns(data, folderRun, next)
				runs += 3
			}
		case typed(data) && !beside[filepath.Dir(f)]:
			beside[filepath.Dir(f)] = true
			for i := range folderRun {
				more := fmt.Sprintf("%s-%04d.json", strings.TrimSuffix(f, ".json"), i)
				if s.unit(more) != unit {
					break
				}
				if whole[more] = []byte(next()); i < folderRun/2 {
					half[more] = whole[more]
				}
			}
			runs++
		}
	}
	return half, whole, runs
}

// withRows returns a database to which statement, a [Suite]'s Unheard, was done n times,
// with the numbers after the number after.
func withRows(t *testing.T, statement string, data []byte, after, n int, next func() string) []byte {
	t.Helper()
	more, _ := changed(t, data, func(db *sql.DB, _ []string) {
		for i := range n {
			if _, err := db.ExecContext(t.Context(), statement, after+i+1, next()); err != nil {
				t.Fatal(err)
			}
		}
	})
	return more
}

// sourcesIn returns how many sources a database has.
func sourcesIn(t *testing.T, f interop.Format, unit string) int {
	t.Helper()
	u, err := f.Look(t.Context(), unit)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	all, err := u.Sources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// typed reports whether a file is a record that says what it is.
func typed(data []byte) bool {
	var record struct{ Type string }
	return json.Unmarshal(data, &record) == nil && record.Type != ""
}

// unit returns the folder or database that a file belongs to; "" for a file of lines.
func (s unknowns) unit(file string) string {
	if s.Format.Unit == nil {
		return ""
	}
	return filepath.FromSlash(s.Format.Unit(filepath.ToSlash(file)))
}

// isOfLines reports whether each line of a unit's file is a record.
func (s unknowns) isOfLines(t *testing.T, unit, file string) (found bool) {
	t.Helper()
	s.eachRecord(t, unit, func(line []byte) {
		l, err := folder.Parse(line)
		found = found || err == nil && l.Line != nil && path.Base(l.File) == filepath.Base(file)
	})
	return found
}

// eachRecord calls yield with the records of all sources of a unit.
func (s unknowns) eachRecord(t *testing.T, unit string, yield func(line []byte)) {
	t.Helper()
	u, err := s.Format.Look(context.Background(), unit)
	if err != nil {
		return // another program's
	}
	defer u.Close()
	all, err := u.Sources(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, src := range all {
		r, err := u.Open(context.Background(), src.Name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			yield(line)
		}
	}
}

// recordBytes returns how many bytes the records of all files below root have.
func (s unknowns) recordBytes(t *testing.T, root string) (n int) {
	t.Helper()
	units := map[string]bool{}
	for _, f := range files(t, root) {
		unit := s.unit(f)
		if unit == "" {
			n += len(read(t, f))
		} else if !units[unit] {
			units[unit] = true
			s.eachRecord(t, unit, func(line []byte) { n += len(line) })
		}
	}
	return n
}

// unknownGrow checks that files that grow in the middle of a run give the same result as
// when they are read at once. In a folder, what comes later in a file follows what its
// other files said before: there the number of events is to be the same.
func (s unknowns) unknownGrow(t *testing.T, root string, half, whole map[string][]byte, want string, events int) {
	t.Helper()
	store := memory.New()
	defer store.Close()
	s.writeAll(t, root, half)
	s.bring(t, store, root)
	if len(whole) > 1 {
		return // their times decide which of several is the original
	}
	s.writeAll(t, root, whole)
	s.bring(t, store, root)
	if s.Format.Look != nil {
		if n := total(t, store); n != events {
			t.Errorf("runs that went on later make %d events, want %d", n, events)
		}
	} else if diff := cmp.Diff(want, dump(t, store, root)); diff != "" {
		t.Errorf("a run that went on later is another (-at once +later):\n%s", diff)
	}
	touch(t, root, 2)
	if rep := s.bring(t, store, root); rep.Events != 0 || rep.Amended != 0 {
		t.Errorf("third Import = %+v, want nothing new", rep)
	}
}

func (s unknowns) writeAll(t *testing.T, root string, all map[string][]byte) {
	t.Helper()
	for f, data := range all {
		write(t, f, data)
	}
	touch(t, root, 0)
}

// withRuns returns the lines of data with a run of n records after the first,
// in the middle and at the end, and the same up to the middle of the last run.
func withRuns(data []byte, n int, next func() string) (half, whole []byte) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines = lines[:len(lines)-1]
	run := func() {
		for range n {
			whole = append(append(whole, next()...), '\n')
		}
	}
	for i, l := range lines {
		whole = append(whole, l...)
		if i == 0 || i == len(lines)/2 {
			run()
		}
	}
	at := len(whole)
	run()
	at += (len(whole) - at) / 2
	return whole[:at:at], whole
}

// total returns how many events all sessions have of their own.
func total(t testing.TB, s *memory.Store) (n int) {
	t.Helper()
	for _, evs := range events(t, s) {
		for _, e := range evs {
			if !strings.Contains(e, " (parent's) ") {
				n++
			}
		}
	}
	return n
}
