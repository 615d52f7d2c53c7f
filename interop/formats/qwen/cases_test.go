package qwen_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/formats/qwen"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/memory"
)

// told imports lines as a session and returns what was said in it.
func told(t *testing.T, lines ...string) string {
	t.Helper()
	s := memory.New()
	defer s.Close()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rep := bring(t, s, path)
	if rep.Sessions != 1 {
		t.Fatalf("Import = %+v, want one session", rep)
	}
	return words(t, s, "s1")
}

func bring(t *testing.T, s skein.Store, at string) interop.Report {
	t.Helper()
	rep, err := importer.Import(t.Context(), s, []interop.Format{qwen.Format()}, []string{at}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", at, err)
	}
	return rep
}

// words returns the messages of a session, rewound ones with a minus.
func words(t *testing.T, s skein.Store, id skein.SessionID) string {
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
	for _, e := range entries {
		text := string(e.Message.Role) + " " + e.Message.Words()
		for _, p := range e.Message.Parts {
			if p.Result != nil {
				text += string(p.Result.Text)
			}
		}
		if e.Rewound {
			text = "-" + text
		}
		all = append(all, text)
	}
	return strings.Join(all, " | ")
}

// line makes a record; parent "" is null.
func line(kind, id, parent, rest string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"uuid":%q,"parentUuid":%s,"sessionId":"s1","timestamp":"2026-06-15T14:00:00.000Z","type":%q,"cwd":"/x",%s}`, id, up, kind, rest)
}

func user(id, parent, text string) string {
	return line("user", id, parent, fmt.Sprintf(`"message":{"role":"user","parts":[{"text":%q}]}`, text))
}

func TestATitleBesideTheLineIsNoStepBack(t *testing.T) {
	title := line("system", "t", "a", `"subtype":"custom_title","systemPayload":{"customTitle":"T"}`)
	if got, want := told(t, user("a", "", "one"), title, user("b", "a", "two")), "user one | user two"; got != want {
		t.Errorf("read as %s, want %s", got, want)
	}
}

func TestRewindToTheBeginningLeavesNothing(t *testing.T) {
	rewind := line("system", "r", "", `"subtype":"rewind","systemPayload":{"truncatedCount":1}`)
	if got, want := told(t, user("a", "", "one"), rewind, user("b", "r", "two")), "-user one | user two"; got != want {
		t.Errorf("read as %s, want %s", got, want)
	}
}

func TestOddRecordsAreKept(t *testing.T) {
	for name, odd := range map[string]string{
		"no message":     line("user", "b", "a", `"message":null`),
		"parts a string": line("user", "b", "a", `"message":{"role":"user","parts":"text"}`),
		"parts a number": line("assistant", "b", "a", `"message":{"role":"model","parts":7}`),
		"part a number":  line("assistant", "b", "a", `"message":{"role":"model","parts":[7,null,{"x":1}]}`),
		"twice named":    line("user", "b", "a", `"message":{"role":"user","parts":[{"text":"x","text":3}]}`),
		"huge numbers":   line("assistant", "b", "a", `"message":{"parts":[]},"usageMetadata":{"promptTokenCount":1e999,"candidatesTokenCount":-4}`),
		"unknown type":   line("dance", "b", "a", `"message":{"parts":[{"text":"x"}]}`),
		"its own parent": line("user", "b", "b", `"message":{"parts":[{"text":"x"}]}`),
		"odd uuid":       line("user", `a/../\u0000b`, "a", `"message":{"parts":[{"text":"x"}]}`),
		"deep": line("assistant", "b", "a", `"message":{"parts":[{"functionCall":{"name":"f","args":`+
			strings.Repeat(`{"a":`, 2000)+"1"+strings.Repeat("}", 2000)+`}}]}`),
	} {
		if got := told(t, user("a", "", "one"), odd, user("c", "b", "two")); !strings.HasPrefix(got, "user one") || !strings.HasSuffix(got, "user two") {
			t.Errorf("%s: read as %s, want it between one and two", name, got)
		}
	}
}

func TestClaudeCodesFilesAreNotQwens(t *testing.T) {
	claude := `{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"\"parts\":[ is what they write"},"uuid":"u"}`
	if qwen.Format().Match("/h/.claude/projects/x/s.jsonl", []byte(claude)).Sure != interop.No {
		t.Errorf("Match(Claude Code's) = true, want false")
	}
	agent := line("user", "a", "", `"isSidechain":true,"message":{"role":"user","parts":[{"text":"x"}]}`)
	for _, own := range []string{user("a", "", "x"), agent, line("system", "a", "", `"systemPayload":{}`)} {
		if qwen.Format().Match("/copied/s.jsonl", []byte(own)).Sure != interop.Known {
			t.Errorf("Match(%s) = false, want true", own)
		}
	}
}

func TestPlacesFollowTheVariables(t *testing.T) {
	env := map[string]string{}
	h := interop.Home{Dir: filepath.FromSlash("/home/ada"), Env: func(n string) string { return env[n] }}
	if got, want := qwen.Format().Places(h)[0], filepath.FromSlash("/home/ada/.qwen/projects"); got != want {
		t.Errorf("Places = %s first, want %s", got, want)
	}
	env["QWEN_HOME"] = "~/q"
	if got, want := qwen.Format().Places(h)[0], filepath.FromSlash("/home/ada/q/projects"); got != want {
		t.Errorf("Places with QWEN_HOME = %s first, want %s", got, want)
	}
}

func TestCorpusAddsUpToWhatIsInTheFiles(t *testing.T) {
	root := os.Getenv("SKEIN_CORPUS")
	if root == "" {
		t.Skip("SKEIN_CORPUS is not set: no real sessions to import")
	}
	files, err := filepath.Glob(filepath.Join(root, "qwen", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", root, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var messages, prompt, cached, out int64
		for l := range bytes.Lines(data) {
			var r struct {
				Type          string
				UsageMetadata struct {
					PromptTokenCount, CachedContentTokenCount, CandidatesTokenCount int64
				}
			}
			if err := json.Unmarshal(l, &r); err != nil {
				t.Fatal(err)
			}
			if r.Type != "system" {
				messages++
			}
			prompt, cached, out = prompt+r.UsageMetadata.PromptTokenCount, cached+r.UsageMetadata.CachedContentTokenCount, out+r.UsageMetadata.CandidatesTokenCount
		}
		s := memory.New()
		defer s.Close()
		if rep := bring(t, s, file); rep.Damaged+rep.Skipped != 0 || int64(rep.Messages) != messages {
			t.Errorf("Import(%s) = %+v, want %d messages and no damage", file, rep, messages)
		}
		var u skein.Usage
		for sess, err := range s.Sessions(t.Context(), skein.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			u = u.Plus(sess.Usage)
		}
		u.Requests = 0
		if want := (skein.Usage{Input: prompt - cached, CacheRead: cached, Output: out}); u != want {
			t.Errorf("usage of %s is %+v, want %+v", file, u, want)
		}
		var b bytes.Buffer
		path, err := filepath.EvalSymlinks(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeback.WriteSource(t.Context(), s, qwen.Name, path, &b); err != nil || !bytes.Equal(b.Bytes(), data) {
			t.Errorf("WriteSource(%s) gives %d bytes, %v, want the %d of the file", file, b.Len(), err, len(data))
		}
		if rep := bring(t, s, file); rep.Events != 0 {
			t.Errorf("second Import(%s) = %+v, want nothing new", file, rep)
		}
		t.Logf("%s: %d messages, %+v", filepath.Base(file), messages, u)
	}
}

func TestThoughtsArePartOfTheOutput(t *testing.T) {
	for usage, want := range map[string]skein.Usage{
		`{"promptTokenCount":9,"candidatesTokenCount":5,"thoughtsTokenCount":7}`:                                  {Input: 9, Output: 12, Reasoning: 7},
		`{"promptTokenCount":9,"candidatesTokenCount":8,"thoughtsTokenCount":7,"totalTokenCount":24}`:             {Input: 9, Output: 15, Reasoning: 7},
		`{"promptTokenCount":9,"candidatesTokenCount":8,"thoughtsTokenCount":7,"totalTokenCount":17}`:             {Input: 9, Output: 8, Reasoning: 7},
		`{"promptTokenCount":9,"candidatesTokenCount":8,"cachedContentTokenCount":90,"totalTokenCount":17}`:       {CacheRead: 9, Output: 8},
		`{"promptTokenCount":9,"candidatesTokenCount":null,"thoughtsTokenCount":"7","cachedContentTokenCount":4}`: {Input: 5, CacheRead: 4},
	} {
		s := memory.New()
		defer s.Close()
		path := filepath.Join(t.TempDir(), "s1.jsonl")
		if err := os.WriteFile(path, []byte(line("assistant", "a", "", `"message":{"role":"model","parts":[{"text":"x"}]},"usageMetadata":`+usage)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		bring(t, s, path)
		sess, err := s.Session(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		if sess.Usage.Requests = 0; sess.Usage != want {
			t.Errorf("%s is %+v, want %+v", usage, sess.Usage, want)
		}
	}
}

// What a compression keeps is looked for only among messages on the current path.
func TestACompressionKeepsNothingOfAnotherLine(t *testing.T) {
	compress := line("system", "z", "d", `"subtype":"chat_compression","systemPayload":{"compressedHistory":[{"role":"user","parts":[{"text":"S"}]},{"role":"user","parts":[{"text":"two"}]},{"role":"user","parts":[{"text":"three"}]}]}`)
	lines := []string{user("a", "", "one"), user("b", "a", "two"), user("c", "b", "left"), user("d", "b", "three"), compress, user("e", "z", "four")}
	s := memory.New()
	defer s.Close()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bring(t, s, path)
	var evs []skein.Event
	for e, err := range s.Events(t.Context(), "s1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	v, err := window.Context(evs, window.GenericRules())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range v.Messages {
		all = append(all, m.Words())
		for _, p := range m.Parts {
			if p.Synthetic {
				all = append(all, string(p.Text))
			}
		}
	}
	if got, want := strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "|"), "S|two|three|four"; got != want {
		t.Errorf("the model is shown %s, want %s", got, want)
	}
}
