package codex

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// plainLine is for a second, small reader of rollouts, to check the first against.
type plainLine struct {
	Type    string
	Payload struct {
		Type    string
		Role    string
		Content []struct{ Text string }
		Output  json.RawMessage
		Info    *struct {
			Total struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"total_token_usage"`
		}
	}
}

func rollouts(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, ".codex"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "rollout-") && strings.HasSuffix(path, ".jsonl") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("WalkDir(%s) finds %d rollouts and gives the error %v, want some", root, len(files), err)
	}
	return files
}

func TestCorpusRolloutsLoseNoTextAndCountEachToken(t *testing.T) {
	root := os.Getenv("SKEIN_CORPUS")
	if root == "" {
		t.Skip("SKEIN_CORPUS is not set: no real rollouts to read")
	}
	for _, file := range rollouts(t, root) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkRollout(t, filepath.Base(file), string(b))
	}
}

func TestCorpusRolloutsAreImportedOnceAndGivenBack(t *testing.T) {
	root := os.Getenv("SKEIN_CORPUS")
	if root == "" {
		t.Skip("SKEIN_CORPUS is not set: no real rollouts to import")
	}
	h := newHome(t)
	if h.dir = filepath.Join(root, ".codex"); h.load().Sessions == 0 {
		t.Errorf("Import(%s) makes no session, want some", h.dir)
	}
	if rep := h.load(); rep.Events != 0 {
		t.Errorf("Import(%s) again adds %d events, want 0", h.dir, rep.Events)
	}
	for _, file := range rollouts(t, root) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		h.exact(file, string(b))
	}
}

// checkRollout reads a rollout with both readers and compares.
func checkRollout(t *testing.T, name, text string) {
	t.Helper()
	all := readAll(t, name, text)
	var input, output int64
	for i, raw := range strings.Split(text, "\n") {
		var l plainLine
		if json.Unmarshal([]byte(raw), &l) != nil {
			continue
		}
		if l.Payload.Info != nil {
			input, output = l.Payload.Info.Total.Input, l.Payload.Info.Total.Output
		}
		if l.Type != "response_item" {
			continue
		}
		got := saidIn(t, all[i])
		for _, want := range wanted(l) {
			if !strings.Contains(got, want) {
				t.Errorf("%s:%d: the record says %.200q, want %.200q in it", name, i+1, got, want)
			}
		}
	}
	u := used(t, all)
	if u.Prompt() != input || u.Output != output {
		t.Errorf("%s: usage is %+v, want %d tokens in and %d out in all", name, u, input, output)
	}
}

// wanted returns the texts of a line that must be found.
func wanted(l plainLine) (texts []string) {
	for _, c := range l.Payload.Content {
		texts = append(texts, c.Text)
	}
	var s string
	if json.Unmarshal(l.Payload.Output, &s) != nil {
		return texts
	}
	var inner struct {
		Output   *string
		Metadata any
	}
	if json.Unmarshal([]byte(s), &inner) == nil && inner.Output != nil && inner.Metadata != nil {
		s = *inner.Output
	}
	return append(texts, s)
}

// saidIn returns all texts and outputs in m.
func saidIn(t *testing.T, m interop.Made) string {
	t.Helper()
	var b strings.Builder
	for _, it := range m.Items {
		if it.Event.Kind != skein.KindSaid {
			continue
		}
		msg, err := skein.Decode[skein.Message](it.Event)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range msg.Parts {
			b.WriteString(string(p.Text) + "\n")
			if p.Result != nil {
				b.WriteString(string(p.Result.Text) + "\n")
			}
		}
	}
	return b.String()
}
