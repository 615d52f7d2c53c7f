package otelgenai

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

func words(t *testing.T, s *memory.Store, id skein.SessionID) string {
	t.Helper()
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	entries, err := skein.Entries(evs)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, en := range entries {
		var parts []string
		for _, p := range en.Message.Parts {
			switch {
			case p.Call != nil:
				parts = append(parts, p.Call.Name+string(p.Call.Input))
			case p.Result != nil:
				parts = append(parts, "="+string(p.Result.Text))
			case p.File != nil:
				parts = append(parts, "file")
			default:
				parts = append(parts, string(p.Text))
			}
		}
		mark := ""
		if en.Rewound {
			mark = "-"
		}
		all = append(all, mark+string(en.Message.Role)+": "+strings.Join(parts, ", "))
	}
	return strings.Join(all, " | ")
}

func TestWhatARequestRepeatsIsSaidOnce(t *testing.T) {
	u, a, v, b, x := text("user", "one"), text("assistant", "yes"), text("user", "two"), text("assistant", "no"), text("user", "other")
	first := request("c", list(u), list(a))
	for name, c := range map[string]struct {
		next []string
		want string
	}{
		"the whole history":      {[]string{request("c", list(u, a, v), list(b))}, "user: one | assistant: yes | user: two | assistant: no"},
		"only what is new":       {[]string{request("c", list(v), list(b))}, "user: one | assistant: yes | user: two | assistant: no"},
		"the newest part":        {[]string{request("c", list(u, a, v), list(b)), request("c", list(v, b, x), "[]")}, "user: one | assistant: yes | user: two | assistant: no | user: other"},
		"the same request again": {[]string{request("c", list(u), list(b))}, "user: one | -assistant: yes | assistant: no"},
		"another way":            {[]string{request("c", list(u, a, v), list(b)), request("c", list(u, a, x), list(b))}, "user: one | assistant: yes | -user: two | -assistant: no | user: other | assistant: no"},
	} {
		t.Run(name, func(t *testing.T) {
			var lines strings.Builder
			for _, s := range append([]string{first}, c.next...) {
				lines.WriteString(traces(s) + "\n")
			}
			_, s, _ := bring(t, "a.jsonl", []byte(lines.String()))
			if is := words(t, s, "c"); is != c.want {
				t.Errorf("it says\n%s\nwant\n%s", is, c.want)
			}
		})
	}
}

func TestEachConversationIsASession(t *testing.T) {
	u, a := list(text("user", "one")), list(text("assistant", "yes"))
	rep, s, _ := bring(t, "a.jsonl", []byte(traces(request("c", u, a), request("d", list(text("user", "two")), a))+"\n"+traces(request("d", list(text("user", "two"), text("assistant", "yes"), text("user", "three")), a))+"\n"))
	if rep.Sessions != 2 || rep.Damaged != 0 {
		t.Errorf("Import = %+v, want 2 sessions", rep)
	}
	if c, d := words(t, s, "c"), words(t, s, "d"); c != "user: one | assistant: yes" || d != "user: two | assistant: yes | user: three | assistant: yes" {
		t.Errorf("they say\n%s\n%s", c, d)
	}
}

const at = skein.Time(1795230386350)

func TestWhatIsWrittenFitsTheSchemasAndIsReadAgain(t *testing.T) {
	s := memory.New()
	defer s.Close()
	blob := skein.NewBlob([]byte("hi"))
	look := skein.UserSays("look")
	look.Parts = append(look.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: blob.Hash, Size: 2}})
	asks := skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "m", Parts: []skein.Part{
		skein.TextPart("I"), {Kind: skein.PartReasoning, Text: "hm"}, {Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "bash", Input: []byte(`{"a":1.50}`)}}, skein.TextPart("look"),
	}, Usage: &skein.Usage{Input: 10, Output: 5, CacheRead: 100, CacheWrite: 20, Reasoning: 2, Reported: 1_500_000}}
	answers := skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Text: "A", Failed: true}}}}
	steer := skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{skein.TextPart("hurry")}}
	system := skein.Message{Role: skein.RoleSystem, Parts: []skein.Part{skein.TextPart("be good")}}
	b := skein.Batch{Session: "s1", Blobs: []skein.Blob{blob}, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, at, skein.Created{Title: "Pears", Cwd: "/home/ada", Agent: "pear", Provider: "anthropic", Model: "m"}),
		skein.Say(at, system), skein.Say(at+1, look), skein.Say(at+2, asks), skein.Say(at+3, answers), skein.Say(at+4, steer), skein.Say(at+5, look),
	}}
	if _, err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Export(t.Context(), s, Format(), "s1", dir, writeback.Exports{NoSide: true})
	if err != nil || len(done[0].Losses) != 0 {
		t.Fatalf("Export = %+v, %v, want no losses", done, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, done[0].Spot.Path))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, raw := range messageLists(t, data) {
		n++
		for _, wrong := range wrongs(raw.text, raw.output) {
			t.Errorf("%s in %s", wrong, raw.text)
		}
	}
	if n != 3 {
		t.Errorf("%d lists of messages are written, want 3", n)
	}
	to := memory.New()
	defer to.Close()
	if rep, err := importer.Import(t.Context(), to, []interop.Format{Format()}, []string{dir}, interop.Options{}); err != nil || rep.Damaged != 0 {
		t.Fatalf("Import = %+v, %v", rep, err)
	}
	if was, is := words(t, s, "s1"), words(t, to, "s1"); was != is {
		t.Errorf("it says\n%s\nwant\n%s", is, was)
	}
	was, err := s.Session(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if is, err := to.Session(t.Context(), "s1"); err != nil || is.Usage != was.Usage || is.Title != "Pears" || is.Agent != "pear" {
		t.Errorf("s1 is %+v, %v, want usage %+v", is, err, was.Usage)
	}
}

// A messageList is the value of gen_ai.input.messages or gen_ai.output.messages.
type messageList struct {
	text   string
	output bool
}

func messageLists(t *testing.T, data []byte) (all []messageList) {
	t.Helper()
	var doc struct{ ResourceSpans []resourceOut }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	for _, r := range doc.ResourceSpans {
		for _, s := range r.Scopes[0].Spans {
			if len(s.Trace) != 32 || len(s.Span) != 16 || s.Start > s.End {
				t.Errorf("span %+v: its IDs or times are wrong", s)
			}
			for _, a := range s.Attributes {
				if a.Key == attrIn || a.Key == attrOut {
					all = append(all, messageList{a.Value.String.(string), a.Key == attrOut})
				}
			}
		}
	}
	return all
}

// wrongs returns the rules of the conventions' JSON schemas of messages that a list
// breaks: required members, by the type of each part.
func wrongs(text string, output bool) (all []string) {
	var list []map[string]any
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return []string{err.Error()}
	}
	needs := map[string][]string{
		"text": {"content"}, "reasoning": {"content"}, "tool_call": {"name"}, "tool_call_response": {"response"},
		"blob": {"modality", "content"}, "uri": {"modality", "uri"}, "file": {"modality", "file_id"},
	}
	for _, m := range list {
		parts, ok := m["parts"].([]any)
		if _, finish := m["finish_reason"].(string); !ok || output != finish || !slices.Contains([]any{"user", "assistant", "tool", "system"}, m["role"]) {
			all = append(all, "a message without role, parts or finish_reason")
		}
		for _, v := range parts {
			p, _ := v.(map[string]any)
			kind, _ := p["type"].(string)
			for _, name := range append([]string{"type"}, needs[kind]...) {
				if p[name] == nil {
					all = append(all, "a part "+kind+" without "+name)
				}
			}
		}
	}
	return all
}
