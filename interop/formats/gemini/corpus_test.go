package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

// counted is the part of a message that is needed for counting.
type counted struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Tokens *struct{ Input, Output, Cached, Thoughts, Total int64 }
	Calls  []struct{ Result []any } `json:"toolCalls"`
}

func corpus(t *testing.T) []string {
	t.Helper()
	root := os.Getenv("SKEIN_CORPUS")
	if root == "" {
		t.Skip("SKEIN_CORPUS is not set: no real sessions to read")
	}
	files, err := filepath.Glob(filepath.Join(root, "gemini", "*.json*"))
	if err != nil || len(files) == 0 {
		t.Skipf("%s has no folder gemini: no real sessions to read", root)
	}
	return files
}

// messagesIn reads the messages of a file of either shape: the last of each ID.
func messagesIn(data []byte) map[string]counted {
	all := map[string]counted{}
	var whole struct{ Messages []counted }
	if json.Unmarshal(data, &whole) == nil {
		for _, m := range whole.Messages {
			all[m.ID] = m
		}
		return all
	}
	for line := range bytes.Lines(data) {
		var m counted
		if json.Unmarshal(line, &m) == nil && m.ID != "" {
			all[m.ID] = m
		}
	}
	return all
}

func TestCorpusSessionsAreReadWholeOnceAndGivenBack(t *testing.T) {
	for _, file := range corpus(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlace(t)
		name := filepath.Base(file)
		if bytes.HasPrefix(data, []byte("{\n")) {
			name = "session-" + name + ".json" // it was kept under another extension
		}
		at := p.write(name, string(data))
		rep := p.load()
		var messages, tokens int64
		for _, m := range messagesIn(data) {
			if m.Type == "user" || m.Type == "gemini" {
				messages++
			}
			for _, c := range m.Calls {
				if len(c.Result) > 0 {
					messages++
				}
			}
			if m.Tokens != nil {
				tokens += m.Tokens.Total
			}
		}
		if rep.Damaged != 0 || rep.Sessions != 1 || int64(rep.Messages) != messages {
			t.Errorf("Import(%s) = %+v, want 1 session with %d messages and no damage", name, rep, messages)
		}
		var used skein.Usage
		for s, err := range p.store.Sessions(context.Background(), skein.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			used = used.Plus(s.Usage)
		}
		if used.Tokens() != tokens {
			t.Errorf("Import(%s) counts %d tokens, want %d", name, used.Tokens(), tokens)
		}
		if rep := p.load(); rep.Events != 0 {
			t.Errorf("Import(%s) again = %+v, want nothing new", name, rep)
		}
		var back []byte
		for r, err := range p.store.Records(context.Background(), Name, at, 0) {
			if err != nil {
				t.Fatal(err)
			}
			piece := r.Raw
			if filepath.Ext(name) == ".json" {
				if piece, err = interop.Piece(r.Raw); err != nil {
					t.Fatal(err)
				}
			}
			back = append(back, piece...)
		}
		if !bytes.Equal(back, data) {
			t.Errorf("the records of %s are %d bytes that differ from the file's %d", name, len(back), len(data))
		}
	}
}
