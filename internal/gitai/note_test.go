package gitai_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein/internal/gitai"
)

func TestANoteIsReadAndWritten(t *testing.T) {
	n := gitai.Note{
		Base: "7734793b756b3921c88db5375a8c156e9532447b",
		Files: []gitai.NotedFile{
			{"src/main.rs", []gitai.NoteEntry{
				{"s_0123456789abcd", "t_fedcba98765432", []gitai.NotedLines{{1, 10}, {15, 15}}},
				{"s_00000000000000", "", []gitai.NotedLines{{11, 14}}},
			}},
			{"src/my \"file\".rs", []gitai.NoteEntry{{"s_0123456789abcd", "", []gitai.NotedLines{{2, 2}}}}},
		},
		Sessions: map[string]gitai.AgentID{"s_0123456789abcd": {"claude", "u1", "m1"}, "s_00000000000000": {"cursor", "u2", ""}},
	}
	got, err := gitai.Parse(n.String())
	if diff := cmp.Diff(n, got); err != nil || diff != "" {
		t.Errorf("Parse of\n%s\n%v (-want +got):\n%s", n.String(), err, diff)
	}
}

func TestNotesOfBothGenerationsAreRead(t *testing.T) {
	n, err := gitai.Parse(`src/main.rs
  abcd1234abcd1234 1-10,15
  h_31dce776f88375 11-12
  s_c9883b05a2487d::t_9f8e7d6c5b4a32 13
---
{"schema_version":"authorship/3.0.0","base_commit_sha":"x","more":[1],
 "humans":{"h_31dce776f88375":{"author":"Ada"}},
 "prompts":{"abcd1234abcd1234":{"agent_id":{"tool":"cursor","id":"old","model":"m"},"messages":[],"total_additions":1}},
 "sessions":{"s_c9883b05a2487d":{"agent_id":{"tool":"claude","id":"new","model":"m"}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[int]string{1: "old", 10: "old", 15: "old", 11: "", 13: "new", 14: "", 99: ""} {
		if a, ok := n.Session("src/main.rs", line); a.ID != want || ok != (want != "") {
			t.Errorf("line %d is of session %q, want %q", line, a.ID, want)
		}
	}
	if a, ok := n.Session("other.rs", 1); ok {
		t.Errorf("a line of another file is of session %q", a.ID)
	}
}

func TestWhatIsNoNoteIsRefused(t *testing.T) {
	for _, text := range []string{"", "a\n  s_1 1\n", "  s_1 1\n---\n{}", "a\n  s_1 1-\n---\n{}", "a\n  s_1 3-2\n---\n{}", "a\n  s_1\n---\n{}", "a\n  s_1 0\n---\n{}", "a\n---\nno JSON"} {
		if n, err := gitai.Parse(text); err == nil {
			t.Errorf("Parse(%q) is %+v, want an error", text, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a\n  s_1::t_2 1-4,9\n\"b c\"\n  d 1\n---\n{\"prompts\":{}}")
	f.Fuzz(func(t *testing.T, text string) {
		n, err := gitai.Parse(text)
		if err != nil {
			return
		}
		if _, err := gitai.Parse(n.String()); err != nil {
			t.Fatalf("Parse(%q) is written as\n%s\nwhich is not read: %v", text, n.String(), err)
		}
	})
}
