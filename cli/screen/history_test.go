package screen

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func openHistory(t *testing.T, path string) *History {
	t.Helper()
	h, err := OpenHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func add(t *testing.T, h *History, text string) {
	t.Helper()
	if err := h.Add(text); err != nil {
		t.Fatal(err)
	}
}

func TestAHistoryIsThereAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history", "api.jsonl")
	h := openHistory(t, path)
	for _, text := range []string{"one", "two\nlines <b>", "one", "  "} {
		add(t, h, text)
	}
	if got, want := openHistory(t, path).lines, []string{"two\nlines <b>", "one"}; !slices.Equal(got, want) {
		t.Errorf("the history has %q, want %q", got, want)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("its file: %v, %v; want mode 0600", info, err)
	}
}

func TestDamageInAHistoryIsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	if err := os.WriteFile(path, []byte("\"one\"\nnot JSON\n{}\n\x00\n\"two\"\n\"torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := openHistory(t, path).lines, []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("the history has %q, want %q", got, want)
	}
}

func TestOfALongHistoryTheEndIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	long := strings.Repeat("\""+strings.Repeat("x", 999)+"\"\n", maxHistory/1000+10) + "\"last\"\n"
	if err := os.WriteFile(path, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := openHistory(t, path).lines; len(got) != 2 || got[1] != "last" || len(got[0]) != 999 {
		t.Errorf("the history has %d lines, want the two that differ, whole", len(got))
	}
}

func TestProgramsAddToAHistoryAtTheSameTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			h, err := OpenHistory(path)
			for k := range 20 {
				if err == nil {
					err = h.Add(strings.Repeat(string(rune('a'+i)), 50+k))
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := len(openHistory(t, path).lines); got != 160 {
		t.Errorf("the history has %d lines, want 160", got)
	}
}

func TestUpAndDownWalkThroughAHistory(t *testing.T) {
	h := &History{lines: []string{"one", "two"}}
	term, _ := newTerminal(Options{History: h})
	for _, c := range []struct{ key, want string }{
		{"x", "x"}, {"up", "two"}, {"up", "one"}, {"up", "one"}, {"down", "two"}, {"down", "x"}, {"down", "x"},
	} {
		press(term, c.key)
		if got := term.edit.text; got != c.want {
			t.Errorf("after %s: %q, want %q", c.key, got, c.want)
		}
	}
}
