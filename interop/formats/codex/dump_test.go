package codex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// readAll gives the lines of text to a reader for a file of this name.
func readAll(t testing.TB, name, text string) []interop.Made {
	t.Helper()
	r := open(interop.File{Path: filepath.Join(string(filepath.Separator)+"rollouts", name)})
	var all []interop.Made
	for i, body := range strings.Split(text, "\n") {
		if body = strings.TrimSpace(body); body == "" || !json.Valid([]byte(body)) {
			all = append(all, interop.Made{})
			continue
		}
		made, err := r.Read(interop.Line{N: i, Number: i + 1, Body: []byte(body)})
		if err != nil {
			made = interop.Made{Damage: "damaged: " + err.Error()}
		}
		for _, it := range made.Items {
			if _, err := skein.FactsOf(it.Event); err != nil {
				t.Errorf("%s:%d: FactsOf(%s) gives the error %v", name, i+1, it.Event.Kind, err)
			}
		}
		all = append(all, made)
	}
	return all
}

// dump renders what a reader made, for golden files.
func dump(all []interop.Made) []byte {
	var b bytes.Buffer
	for i, m := range all {
		if m.Damage == "" && len(m.Items)+len(m.Begin)+len(m.Apart) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%d %s", i+1, m.Key)
		if m.Floating {
			b.WriteString(" floating")
		}
		if m.Damage != "" {
			fmt.Fprintf(&b, " damage: %s", m.Damage)
		}
		b.WriteByte('\n')
		for _, g := range m.Begin {
			fmt.Fprintf(&b, "  begin %s %s parent=%q %s\n", g.ID, g.Time, g.ParentID, skein.MustJSON(g.Created))
		}
		for _, it := range m.Items {
			fmt.Fprintf(&b, "  %s %s %s", it.Event.Kind, it.Event.Time, it.Event.Payload)
			if it.Event.Kind == skein.KindRewound || it.Event.Kind == skein.KindCompacted {
				fmt.Fprintf(&b, " to=%d", it.To)
			}
			for _, bl := range it.Blobs {
				fmt.Fprintf(&b, " blob=%d", len(bl.Data))
			}
			b.WriteByte('\n')
		}
		for _, a := range m.Apart {
			fmt.Fprintf(&b, "  apart %s %s %s %s\n", a.Of, a.Event.Kind, a.Event.Time, a.Event.Payload)
		}
	}
	return b.Bytes()
}

// testFiles returns the plain files of the suite's cases.
func testFiles(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, at := range []string{"testdata/*.jsonl", "testdata/family/*.jsonl"} {
		found, err := filepath.Glob(at)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 8 {
		t.Fatalf("testdata has %d files, want at least 8", len(files))
	}
	return files
}
