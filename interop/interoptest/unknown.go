package interoptest

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/store/memory"
)

// unknownRun is how many records in a run are unknown to the format.
const unknownRun = 400

// unknown checks, for a format of lines: runs of records that it does not know, whatever
// they say, cost no more events than they have kilobytes, hide nothing of the
// conversation, are kept byte for byte, and give the same result if the file ended in
// the middle of one when it was read before.
func (s Suite) unknown(t *testing.T, name string) {
	for what, record := range map[string]func(int) string{
		"numbers":     func(i int) string { return fmt.Sprintf(`{"x":%d}`, i) },
		"two kinds":   func(i int) string { return fmt.Sprintf(`{"%c":%d}`, 'x'+i%2, i/2) },
		"seven types": func(i int) string { return fmt.Sprintf(`{"type":"unheard-of-%d","n":%d}`, i%7, i) },
	} {
		t.Run(what, func(t *testing.T) { s.unknownOf(t, name, record) })
	}
}

func (s Suite) unknownOf(t *testing.T, name string, record func(int) string) {
	plain, root := lay(t, filepath.Join(s.Dir, name)), lay(t, filepath.Join(s.Dir, name))
	half, whole := map[string][]byte{}, map[string][]byte{}
	junk, n := 0, 0 // bytes, records
	next := func() string {
		n++
		return record(n) // a different one in each file: one that two have may be a copy
	}
	for _, f := range files(t, root) {
		data := read(t, f)
		if _, packed := interop.PlainName(f); packed || !s.matches(f, data) || s.Format.Unit != nil && s.Format.Unit(filepath.ToSlash(f)) != "" || len(data) == 0 || data[len(data)-1] != '\n' {
			continue
		}
		half[f], whole[f] = withRuns(data, next)
		junk += len(whole[f]) - len(data)
	}
	if len(whole) == 0 {
		return // all of it is packed or ends in a torn line
	}
	want := memory.New()
	defer want.Close()
	s.bring(t, want, plain)
	store := memory.New()
	defer store.Close()
	s.writeAll(t, root, whole)
	s.bring(t, store, root)

	if more, most := total(t, store)-total(t, want), 6*len(whole)+junk/1000; more > most {
		t.Errorf("%d unknown records of %d bytes make %d events, want at most %d", n, junk, more, most)
	}
	if diff := cmp.Diff(said(t, want), said(t, store)); diff != "" {
		t.Errorf("unknown records change what was said (-without +with):\n%s", diff)
	}
	for f, data := range whole {
		var got bytes.Buffer
		if err := interop.WriteSource(context.Background(), store, s.Format.Name, f, &got); err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("WriteSource(%s) gives %d bytes, %v; want the file's %d", filepath.Base(f), got.Len(), err, len(data))
		}
	}
	s.unknownGrow(t, root, half, whole, dump(t, store, root))
}

// unknownGrow checks that files that grow in the middle of a run give the same result as
// when they are read at once.
func (s Suite) unknownGrow(t *testing.T, root string, half, whole map[string][]byte, want string) {
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
	if diff := cmp.Diff(want, dump(t, store, root)); diff != "" {
		t.Errorf("a run that went on later is another (-at once +later):\n%s", diff)
	}
	touch(t, root, 2)
	if rep := s.bring(t, store, root); rep.Events != 0 || rep.Amended != 0 {
		t.Errorf("third Import = %+v, want nothing new", rep)
	}
}

func (s Suite) writeAll(t *testing.T, root string, all map[string][]byte) {
	t.Helper()
	for f, data := range all {
		write(t, f, data)
	}
	touch(t, root, 0)
}

// withRuns returns the lines of data with a run of records after the first,
// in the middle and at the end, and the same up to the middle of the last run.
func withRuns(data []byte, next func() string) (half, whole []byte) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	lines = lines[:len(lines)-1]
	run := func() {
		for range unknownRun {
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
