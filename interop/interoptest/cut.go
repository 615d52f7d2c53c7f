package interoptest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/disk"
	"github.com/skein-dev/skein/interop/records"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// maxCuts is at how many places, besides around the ends of lines, a file is cut to
// import the halves. It is also cut at every byte, but only to see what its reader
// makes of that.
const maxCuts = 64

func cuts(data []byte) (at []int) {
	step := max(1, len(data)/maxCuts)
	for i := range data {
		if i%step == 0 || bytes.IndexByte(data[max(0, i-1):min(len(data), i+1)], '\n') >= 0 {
			at = append(at, i)
		}
	}
	return at
}

// items returns what a format's reader makes of a file, each event as text.
func (s cutting) items(t *testing.T, f string, data []byte) (all []string) {
	t.Helper()
	file := interop.File{Path: f, Beside: func(string) ([]byte, bool) { return nil, false }}
	err := records.Scan(s.Format, file, bytes.NewReader(data), func(r skein.Record, m interop.Made) error {
		for i, it := range m.Items {
			all = append(all, fmt.Sprintf("%d %s/%d %q %s to %d: %s", r.N, m.Key, i, it.Session, it.Event.Kind, it.To, it.Event.Payload))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// given is a reader that keeps what it is given.
type given []byte

func (g *given) Read(l interop.Line) (interop.Made, error) {
	*g = append(append(*g, l.Body...), 0)
	return interop.Made{}, nil
}

// bodies returns what a reader is given of a line, or of as much of it as exists, one
// after the other.
func bodies(t *testing.T, line []byte) string {
	t.Helper()
	var g given
	toBytes := interop.Format{Open: func(interop.File) interop.Reader { return &g }}
	if err := records.Scan(toBytes, interop.File{}, bytes.NewReader(line), func(skein.Record, interop.Made) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return string(g)
}

// everyByte cuts a file at every byte. If the reader is given the same as at the
// previous cut, it is not asked again.
func (s cutting) everyByte(t *testing.T, f string, data []byte) {
	t.Helper()
	whole := s.items(t, f, data)
	var asked int
	last := ""
	for at := range data {
		begin := bytes.LastIndexByte(data[:at], '\n') + 1
		now := bodies(t, data[begin:at])
		if at != begin && at != begin+1 && now == last {
			continue
		}
		last = now
		asked++
		got := s.items(t, f, data[:at])
		if len(got) > len(whole) || !slices.Equal(got, whole[:len(got)]) {
			t.Fatalf("%s cut at byte %d: its events are no prefix of the whole's (-whole +cut):\n%s", filepath.Base(f), at,
				cmp.Diff(whole[:min(len(got), len(whole))], got))
		}
	}
	if lines := bytes.Count(data, []byte("\n")); asked < lines {
		t.Errorf("%s was read at %d cuts, want some in each of its %d lines", filepath.Base(f), asked, lines)
	}
}

func (s cutting) cut(t *testing.T, name string) {
	for _, f := range files(t, lay(t, filepath.Join(s.Dir, name))) {
		if _, packed := disk.PlainName(f); packed {
			continue // half of it is damage
		}
		data := read(t, f)
		s.everyByte(t, f, data)
		store := memory.New()
		s.bring(t, store, f)
		whole, whereabouts := dump(t, store, f), events(t, store)
		store.Close()
		for _, at := range cuts(data) {
			s.cutAt(t, f, data, at, whole, whereabouts)
			if t.Failed() {
				return
			}
		}
	}
}

func (s cutting) cutAt(t *testing.T, f string, data []byte, at int, whole string, all map[string][]string) {
	t.Helper()
	store := memory.New()
	defer store.Close()
	write(t, f, data[:at])
	s.bring(t, store, f)
	for id, evs := range events(t, store) {
		if diff := cmp.Diff(all[id][:min(len(evs), len(all[id]))], evs); diff != "" {
			t.Fatalf("%s cut at byte %d: the events of %s are no prefix of the whole's (-whole +cut):\n%s", filepath.Base(f), at, id, diff)
		}
	}
	write(t, f, data)
	s.bring(t, store, f)
	if got := dump(t, store, f); got != whole {
		t.Fatalf("%s cut at byte %d and then imported whole (-at once +in pieces):\n%s", filepath.Base(f), at,
			cmp.Diff(strings.Split(whole, "\n"), strings.Split(got, "\n")))
	}
}

func (s cutting) export(t *testing.T, name string) {
	root := lay(t, filepath.Join(s.Dir, name))
	store := memory.New()
	defer store.Close()
	s.bring(t, store, root)
	n := 0
	for _, f := range files(t, root) {
		data := unpacked(t, f)
		if !matches(s.Format, f, data) {
			continue
		}
		var got bytes.Buffer
		if err := writeback.WriteSource(context.Background(), store, s.Format.Name, f, &got); err != nil {
			t.Errorf("WriteSource(%s) = %v", filepath.Base(f), err)
			continue
		}
		if !bytes.Equal(got.Bytes(), data) {
			t.Errorf("WriteSource(%s) gives %d bytes that differ from the file's %d", filepath.Base(f), got.Len(), len(data))
		}
		n++
	}
	if n == 0 {
		t.Errorf("no file of %s matches", name)
	}
}

// matches reports whether the format recognizes a file that holds data when it is
// unpacked.
func matches(f interop.Format, path string, data []byte) bool {
	name, _ := disk.PlainName(filepath.ToSlash(path))
	return f.Match != nil && f.Match(name, data[:min(4096, len(data))]).Sure > interop.No
}

func unpacked(t *testing.T, f string) []byte {
	t.Helper()
	data := read(t, f)
	r, ok, err := disk.Unpack(f, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return data
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Fuzz checks what must be true for any bytes: nothing panics, every byte is kept, and
// reading again adds nothing. The cases are the seeds.
func Fuzz(f *testing.F, s Suite) {
	var name string
	for _, c := range s.cases(f) {
		for _, file := range files(f, filepath.Join(s.Dir, c)) {
			data := read(f, file)
			if matches(s.Format, file, data) {
				name = filepath.Base(file)
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), name)
		if !matches(s.Format, path, data) {
			return
		}
		write(t, path, data)
		store := memory.New()
		defer store.Close()
		s.bring(t, store, path)
		var got bytes.Buffer
		if err := writeback.WriteSource(context.Background(), store, s.Format.Name, path, &got); err != nil && len(data) > 0 {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), data) {
			t.Errorf("WriteSource gives %q, want %q", got.Bytes(), data)
		}
		if err := os.Chtimes(path, epoch, epoch); err != nil {
			t.Fatal(err)
		}
		if rep := s.bring(t, store, path); rep.Events != 0 {
			t.Errorf("second Import = %+v, want nothing new", rep)
		}
	})
}
