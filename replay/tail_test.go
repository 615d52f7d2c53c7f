package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/replay"
)

// grow is a file that a Tail reads.
type grow struct {
	*testing.T
	path string
	tail *replay.Tail
}

func newGrow(t *testing.T) *grow {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	return &grow{t, path, replay.NewTail(path)}
}

func (g *grow) add(text string) {
	g.Helper()
	f, err := os.OpenFile(g.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		g.Fatal(err)
	}
}

func (g *grow) set(text string) {
	g.Helper()
	if err := os.WriteFile(g.path, []byte(text), 0o600); err != nil {
		g.Fatal(err)
	}
}

// want compares the new lines; the first one of a file begun again is marked with a star.
func (g *grow) want(want ...string) {
	g.Helper()
	var got []string
	for l, err := range g.tail.Lines() {
		if err != nil {
			g.Fatal(err)
		}
		got = append(got, map[bool]string{true: "*"}[l.Anew]+string(l.Bytes))
	}
	if !slices.Equal(got, want) {
		g.Errorf("Lines yields %q, want %q", got, want)
	}
}

func TestTailGivesWholeLinesOnce(t *testing.T) {
	g := newGrow(t)
	g.want()
	g.add("one\ntwo\r\nthr")
	g.want("one", "two")
	g.want()
	g.add("ee\n\nfive")
	g.want("three", "")
	g.add("\n")
	g.want("five")
}

func TestTailNeverCutsACharacter(t *testing.T) {
	g := newGrow(t)
	text := `{"a":"Grüße 東京 👩‍👩‍👧"}`
	for i := range len(text) {
		g.add(text[i : i+1])
		g.want()
	}
	g.add("\n")
	g.want(text)
}

func TestTailNoticesAnotherFile(t *testing.T) {
	replaced := func(g *grow, text string) {
		if err := os.WriteFile(g.path+".new", []byte(text), 0o600); err != nil {
			g.Fatal(err)
		}
		if err := os.Rename(g.path+".new", g.path); err != nil {
			g.Fatal(err)
		}
	}
	for name, c := range map[string]func(*grow){
		"replaced by a longer one":    func(g *grow) { replaced(g, "new\nand more of it\n") },
		"replaced by a shorter one":   func(g *grow) { replaced(g, "new\nb\n") },
		"shrunk":                      func(g *grow) { g.set("new\n") },
		"shrunk, and grown past that": func(g *grow) { g.set("new\n" + strings.Repeat("x", 100) + "\n") },
		"rewritten, of equal length":  func(g *grow) { g.set("ONE\ntwo\nhal") },
		"removed, and made again": func(g *grow) {
			if err := os.Remove(g.path); err != nil {
				g.Fatal(err)
			}
			g.want()
			g.set("new\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGrow(t)
			g.add("one\ntwo\nhal")
			g.want("one", "two")
			c(g)
			data, err := os.ReadFile(g.path)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(data)) {
				if whole, ok := strings.CutSuffix(line, "\n"); ok {
					want = append(want, whole)
				}
			}
			want[0] = "*" + want[0]
			g.want(want...)
			g.add("next\n")
			rest := string(data[strings.LastIndex(string(data), "\n")+1:])
			g.want(rest + "next")
		})
	}
}

func TestTailGoesOnAfterACallerStopped(t *testing.T) {
	g := newGrow(t)
	g.add("a\nb\nc\n")
	for range g.tail.Lines() {
		break
	}
	g.want("b", "c")
}

func TestTailOfAFolderIsAnError(t *testing.T) {
	for _, err := range replay.NewTail(t.TempDir()).Lines() {
		if err == nil {
			t.Error("a line of a folder")
		}
	}
}

func TestFollowSeesWhatIsWritten(t *testing.T) {
	g := newGrow(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	n := 0
	g.add("line 0\n")
	for l, err := range replay.Follow(ctx, g.path) {
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprint("line ", n); string(l.Bytes) != want {
			t.Fatalf("Follow yields %q, want %q", l.Bytes, want)
		}
		if n++; n == 20 {
			g.add("line 20\nunfinished")
			cancel()
		}
		if n < 20 {
			g.add(fmt.Sprintf("line %d\n", n))
		}
	}
	if n != 21 {
		t.Errorf("Follow yielded %d lines, want 21: what was there when it was told to end too", n)
	}
}
