package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestDocumentsAreTheGoldenFiles(t *testing.T) {
	s, entries := sample()
	o := Options{Reasoning: true, Cost: "$0.19", Image: func(skein.Hash) ([]byte, error) { return pixel, nil }}
	var j bytes.Buffer
	if err := JSON(&j, &s, each(entries), nil); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"sample.md":   asMarkdown(t, s, entries, o),
		"sample.html": asHTML(t, s, entries, o),
		"sample.json": j.String(),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
			t.Errorf("%s (-want +got; -update writes it):\n%s", name, diff)
		}
	}
}

func TestJSONIsExact(t *testing.T) {
	s, entries := sample()
	entries[0].Message.Parts[0].Text = "a\x00b\xed\xa0\x80<script>&\u2028"
	var b bytes.Buffer
	if err := JSON(&b, &s, each(entries), nil); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Session skein.Session
		Entries []skein.Entry
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, back.Session) + cmp.Diff(entries, back.Entries); diff != "" {
		t.Errorf("what was read back (-want +got):\n%s", diff)
	}
	if bytes.Contains(b.Bytes(), []byte(`\u003c`)) {
		t.Errorf("JSON escaped <:\n%s", b.String())
	}
}

func TestOptionsLeaveOut(t *testing.T) {
	s, entries := sample()
	o := Options{NoTools: true}
	for name, got := range map[string]string{"HTML": asHTML(t, s, entries, o), "Markdown": asMarkdown(t, s, entries, o)} {
		for _, gone := range []string{"go test -bench", "The loop allocates", "BenchmarkParse"} {
			if strings.Contains(got, gone) {
				t.Errorf("%s with %+v has %q in it", name, o, gone)
			}
		}
		if !strings.Contains(got, "readByte") {
			t.Errorf("%s with %+v has lost the answer", name, o)
		}
	}
	o = Options{MaxOutput: 20}
	for name, got := range map[string]string{"HTML": asHTML(t, s, entries, o), "Markdown": asMarkdown(t, s, entries, o)} {
		if strings.Contains(got, "PASS") || !strings.Contains(got, "more bytes") {
			t.Errorf("%s with %+v does not cut a long output and say so", name, o)
		}
	}
}

func TestAnErrorOfTheEntriesEndsTheDocument(t *testing.T) {
	s, entries := sample()
	bad := errors.New("disk gone")
	from := func(yield func(skein.Entry, error) bool) {
		_ = yield(entries[0], nil) && yield(skein.Entry{}, bad)
	}
	var b bytes.Buffer
	for name, err := range map[string]error{
		"HTML":     HTML(&b, &s, from, Options{}),
		"Markdown": Markdown(&b, &s, from, Options{}),
		"JSON":     JSON(&b, &s, from, nil),
	} {
		if !errors.Is(err, bad) {
			t.Errorf("%s = %v, want %v", name, err, bad)
		}
	}
}
