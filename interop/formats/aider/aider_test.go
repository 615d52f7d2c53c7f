package aider

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/store/memory"
)

// The files have local times.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

func TestFormat(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata"})
}

// bring imports a history and returns the report and the bytes that the store has of
// its sessions and of what is before them.
func bring(t testing.TB, s *memory.Store, data []byte, at string) interop.Report {
	t.Helper()
	if err := os.WriteFile(at, data, 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := importer.Import(t.Context(), s, []interop.Format{Format()}, []string{at}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%.200q) = %v", data, err)
	}
	return rep
}

func store(t testing.TB) (*memory.Store, string) {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s, filepath.Join(dir, fileName)
}

func TestUsageIsWhatTheReportsAddUpTo(t *testing.T) {
	for line, want := range map[string]skein.Usage{
		"Tokens: 12k sent, 1.2k received. Cost: $0.05 message, $0.10 session.":           {Input: 12000, Output: 1200, Reported: 50000000},
		"Tokens: 2.5k sent, 1.2k cache write, 1.0k cache hit, 340 received.":             {Input: 300, Output: 340, CacheRead: 1000, CacheWrite: 1200},
		"Tokens: 1,234 sent, 7 received. Cost: $1,234.50 message, $1,234.50 session.":    {Input: 1234, Output: 7, Reported: 1234500000000},
		"Tokens: many sent, -1 received. Cost: $NaN message":                             {},
		"Tokens: 99999999999999999999999k sent, 1 received.":                             {Output: 1},
		"Tokens: 1k sent, 2k cache hit, 3 received.  Cost: $0.000012 message, 0 session": {Input: 1000, Output: 3, CacheRead: 2000, Reported: 12000},
	} {
		if got := usageOf(line); got != want {
			t.Errorf("usageOf(%q) = %+v, want %+v", line, got, want)
		}
	}
}

// A history that is cut anywhere and then continued gives the same as one read at
// once.
func TestAHistoryThatGrowsGivesWhatItGivesAtOnce(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "repo", fileName))
	if err != nil {
		t.Fatal(err)
	}
	words := func(s *memory.Store) (all string) {
		for sess, err := range s.Sessions(t.Context(), skein.Filter{IncludeEmpty: true}) {
			if err != nil {
				t.Fatal(err)
			}
			var evs []skein.Event
			for e, err := range s.Events(t.Context(), sess.ID, 0) {
				if err != nil {
					t.Fatal(err)
				}
				evs = append(evs, e)
			}
			entries, err := skein.Entries(evs)
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) == 0 {
				continue
			}
			all += string(sess.ID) + "\n"
			for _, e := range entries {
				all += string(e.Message.Role) + " " + e.Message.Words() + "\n"
			}
		}
		return all
	}
	s, at := store(t)
	bring(t, s, data, at)
	want := words(s)
	for n := range data {
		if n%7 != 0 && data[n] != '\n' && (n == 0 || data[n-1] != '\n') {
			continue
		}
		s, at := store(t)
		bring(t, s, data[:n], at)
		bring(t, s, data, at)
		if got := words(s); got != want {
			t.Fatalf("cut at byte %d and then whole it says\n%s\nwant\n%s", n, got, want)
		}
	}
}

func FuzzHistory(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "repo", fileName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("#### a\r\n> b\r\n\xff\n# aider chat started at \n# aider chat started at then\n#### \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var all []byte
		for _, s := range sections(data) {
			all = append(all, s.data...)
			var again []byte
			for _, p := range runs(s.data) {
				again = append(again, p...)
			}
			if !bytes.Equal(again, s.data) {
				t.Errorf("runs of %q are %q", s.data, again)
			}
		}
		if !bytes.Equal(all, data) {
			t.Errorf("sections of %q are %q", data, all)
		}
		s, at := store(t)
		bring(t, s, data, at)
		if rep := bring(t, s, data, at); rep.Events != 0 {
			t.Errorf("second Import = %+v, want nothing new", rep)
		}
	})
}

// Opening one session of a history does not go through all the others.
func TestASessionCostsTheSameHoweverManyThereAre(t *testing.T) {
	cost := func(n int) float64 {
		var b strings.Builder
		at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range n {
			fmt.Fprintf(&b, "\n# aider chat started at %s\n\n#### do it\n\nDone.\n", at.Add(time.Duration(i)*time.Minute).Format(time.DateTime))
		}
		path := filepath.Join(t.TempDir(), fileName)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		u, err := look(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		return testing.AllocsPerRun(5, func() {
			if _, err := u.Open(t.Context(), "20240101-000500"); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := cost(10), cost(5000); many > few {
		t.Errorf("Open of one session takes %v allocations of 10 sessions and %v of 5,000", few, many)
	}
}
