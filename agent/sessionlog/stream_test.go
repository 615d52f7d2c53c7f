package sessionlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skein-dev/skein/agent/sessionlog"
)

func line(text string) string {
	return fmt.Sprintf(`{"kind":"user_message","userInput":%q,"timestamp":"2026-06-01T07:00:00.000Z"}`+"\n", text)
}

// put adds text to a file, creating it and its folder.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A heard receives what a stream yields.
type heard struct {
	t  *testing.T
	ch chan string
}

// listen streams the logs below dir until the test ends.
func listen(t *testing.T, dir string) heard {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	h, done := heard{t, make(chan string)}, make(chan error, 1)
	go func() {
		defer close(done)
		for e, err := range sessionlog.Stream(ctx, dir) {
			if err != nil {
				done <- err
				return
			}
			select {
			case h.ch <- fmt.Sprintf("%s %d %s%s", e.Log, e.Line, e.Text, e.Damage):
			case <-ctx.Done():
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("Stream = %v", err)
		}
	})
	return h
}

func (h heard) want(all ...string) {
	h.t.Helper()
	for _, want := range all {
		select {
		case got := <-h.ch:
			if got != want {
				h.t.Fatalf("Stream yields %q, want %q", got, want)
			}
		case <-time.After(5 * time.Minute):
			h.t.Fatalf("Stream yields nothing, want %q", want)
		}
	}
}

func TestStreamYieldsWhatWasOldestFirstThenWhatComes(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"zoe/b.jsonl", "ann/c.jsonl", "zoe/a.jsonl"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		put(t, path, line("one")+line("two"))
		at := time.Date(2026, 6, 1, 7, i, 0, 0, time.UTC)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "zoe", "notes.txt"), "no log")
	h := listen(t, dir)
	h.want("zoe/b 1 one", "zoe/b 2 two", "ann/c 1 one", "ann/c 2 two", "zoe/a 1 one", "zoe/a 2 two")
	put(t, filepath.Join(dir, "ann", "c.jsonl"), line("three")+line("four")[:20])
	h.want("ann/c 3 three")
	put(t, filepath.Join(dir, "ann", "c.jsonl"), line("four")[20:])
	h.want("ann/c 4 four")
	put(t, filepath.Join(dir, "bob", "new.jsonl"), line("hello"))
	h.want("bob/new 1 hello")
	if err := os.WriteFile(filepath.Join(dir, "zoe", "a.jsonl"), []byte(line("anew")), 0o600); err != nil {
		t.Fatal(err)
	}
	h.want("zoe/a 1 anew")
}

func TestStreamWaitsForItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet")
	h := listen(t, dir)
	put(t, filepath.Join(dir, "ann", "first.jsonl"), line("here"))
	h.want("ann/first 1 here")
}
