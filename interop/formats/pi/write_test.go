package pi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/formats/pi"
	"github.com/skein-dev/skein/interop/writeback"
)

func (p *place) append(id string, evs ...skein.Event) {
	p.Helper()
	if _, err := p.store.Append(p.Context(), skein.Batch{Session: skein.SessionID(id), Events: evs}); err != nil {
		p.Fatal(err)
	}
}

// export writes a session to a new folder, without a side file.
func (p *place) export(id string) (home string, done []writeback.Exported) {
	p.Helper()
	home = filepath.Join(p.TempDir(), "agent")
	done, err := writeback.Export(p.Context(), p.store, pi.Format(), skein.SessionID(id), home, writeback.Exports{NoSide: true})
	if err != nil {
		p.Fatalf("Export(%s) = %v", id, err)
	}
	return home, done
}

// entries returns the lines of a file that was written.
func (p *place) entries(home string, x writeback.Exported) (all []map[string]any) {
	p.Helper()
	b, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(x.Spot.Path)))
	if err != nil {
		p.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.Fatalf("line %s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// again reads what was written into another store.
func (p *place) again(home, id, want string) {
	p.Helper()
	q := newPlace(p.T)
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		p.Fatal(err)
	}
	if rep := importAt(p.T, q.store, home); rep.Damaged+rep.Skipped != 0 {
		p.Errorf("Import(%s) = %+v, want no damage", home, rep)
	}
	q.want(id, want)
}

func lost(x writeback.Exported) (all []string) {
	for _, l := range x.Losses {
		all = append(all, l.What)
	}
	return all
}

func callOf(id, name, input string) skein.Part {
	return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name, Input: []byte(input)}}
}

func resultOf(id, text string) skein.Message {
	return skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: skein.Text(text)}}}}
}

func answer(parts ...skein.Part) skein.Message {
	return skein.Message{Role: skein.RoleAssistant, Provider: "anthropic", Model: "m", Parts: parts}
}

const at = skein.Time(1795230386350)

func begins(more skein.Created) skein.Event {
	more.Cwd, more.Provider, more.Model = "/home/ada/pear", "anthropic", "m"
	return skein.NewEvent(skein.KindCreated, at, more)
}

func TestASessionIsWrittenWherePiLooksForIt(t *testing.T) {
	p := newPlace(t)
	p.append("s1", begins(skein.Created{Title: "Two\nlines"}), skein.Say(at+1, skein.UserSays("hi")), skein.Say(at+2, answer(skein.TextPart("yes"))))
	home, done := p.export("s1")
	if want := "sessions/--home-ada-pear--/" + strings.NewReplacer(":", "-", ".", "-").Replace(at.String()) + "_s1.jsonl"; done[0].Spot.Path != want || !slices.Equal(lost(done[0]), []string{itsModel}) {
		t.Errorf("Export = %+v, want it at %s without losses but the model", done[0], want)
	}
	es := p.entries(home, done[0])
	var kinds []string
	for i, e := range es {
		kinds = append(kinds, e["type"].(string))
		switch {
		case i == 0 && (e["version"] != 3.0 || e["id"] != "s1" || e["cwd"] != "/home/ada/pear"):
			t.Errorf("header is %v", e)
		case i == 1 && e["parentId"] != nil, i > 1 && e["parentId"] != es[i-1]["id"]:
			t.Errorf("entry %d hangs on %v, want the one before", i, e["parentId"])
		}
	}
	if want := []string{"session", "session_info", "message", "message"}; !slices.Equal(kinds, want) {
		t.Errorf("lines are %v, want %v", kinds, want)
	}
	m := es[3]["message"].(map[string]any)
	for _, name := range []string{"content", "api", "provider", "model", "usage", "stopReason", "timestamp"} { // pi requires them
		if m[name] == nil {
			t.Errorf("answer %v has no %s", m, name)
		}
	}
	if command, dir := pi.Format().Resume(done[0].Spot, p.session("s1")); !slices.Equal(command, []string{"pi", "--session", "s1"}) || dir != "/home/ada/pear" {
		t.Errorf("Resume = %v in %s, want pi --session s1 in /home/ada/pear", command, dir)
	}
	p.again(home, "s1", "user hi | assistant yes")
}

const itsModel = "model: pi continues with the one in its settings"

// pi continues with the model of the last answer or change, whichever came later.
func TestASessionOfAnotherProgramGoesOnWithTheModelThatPiIsSetTo(t *testing.T) {
	p := newPlace(t)
	other := "gpt-6"
	p.append("s1", begins(skein.Created{}), skein.NewEvent(skein.KindChanged, at+1, skein.Changed{Model: &other}), skein.Say(at+2, skein.UserSays("hi")), skein.Say(at+3, answer(skein.TextPart("yes"))))
	home := filepath.Join(p.TempDir(), "agent")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "settings.json"), []byte(`{"defaultProvider":"google","defaultModel":"gemini-3"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	done, err := writeback.Export(p.Context(), p.store, pi.Format(), "s1", home, writeback.Exports{NoSide: true})
	if err != nil {
		t.Fatal(err)
	}
	var models []any
	for _, e := range p.entries(home, done[0]) {
		if e["type"] == "model_change" {
			models = append(models, e["provider"], e["modelId"])
		}
	}
	if want := []any{"google", "gemini-3"}; !slices.Equal(models, want) {
		t.Errorf("the models that the file sets are %v, want %v", models, want)
	}
}

func TestAnAnswerWithoutAProviderIsTheSessions(t *testing.T) {
	p := newPlace(t)
	said := answer(skein.TextPart("yes"))
	said.Provider, said.Model = "", ""
	p.append("s1", begins(skein.Created{}), skein.Say(at+1, skein.UserSays("hi")), skein.Say(at+2, said))
	home, done := p.export("s1")
	es := p.entries(home, done[0])
	m := es[len(es)-1]["message"].(map[string]any)
	if m["api"] != "anthropic-messages" || m["provider"] != "anthropic" {
		t.Errorf("an answer of a session with Anthropic is by %v over %v, want anthropic over anthropic-messages", m["provider"], m["api"])
	}
}

func TestAnIDThatPiDoesNotTakeIsReplaced(t *testing.T) {
	p := newPlace(t)
	p.append("~a b~", begins(skein.Created{}), skein.Say(at, skein.UserSays("hi")))
	_, done := p.export("~a b~")
	if id := done[0].Spot.ID; len(id) != 36 || strings.ContainsAny(done[0].Spot.Path, "~ ") {
		t.Errorf("it is written as %s at %s, want a UUID", id, done[0].Spot.Path)
	}
}

func TestCallsBecomePisTools(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"bash", `{"command":"ls","n":1.50}`, `bash{"command":"ls","n":1.50}`},
		{"Bash", `{"command":"ls","timeout":120000,"description":"d"}`, `bash{"command":"ls"}`},
		{"shell", `{"command":["bash","-lc","ls | wc"]}`, `bash{"command":"ls | wc"}`},
		{"shell", `{"command":["ls","a b"],"timeout_seconds":5}`, `bash{"command":"ls 'a b'","timeout":5}`},
		{"exec_command", `{"cmd":"ls"}`, `bash{"command":"ls"}`},
		{"Read", `{"file_path":"/a\u00e4","offset":3,"limit":10}`, `read{"path":"/a\u00e4","offset":3,"limit":10}`},
		{"Edit", `{"file_path":"/a","old_string":"x","new_string":""}`, `edit{"path":"/a","oldText":"x","newText":""}`},
		{"MultiEdit", `{"file_path":"/a","edits":[]}`, ``},
		{"edit_file", `{"path":"/a","edits":[{"old_string":"x","new_string":"y"}]}`, `edit{"path":"/a","edits":[{"oldText":"x","newText":"y"}]}`},
		{"Write", `{"file_path":"/a","content":"x"}`, `write{"path":"/a","content":"x"}`},
		{"Grep", `{"pattern":"x","-i":true,"glob":"*.go"}`, `grep{"pattern":"x","glob":"*.go","ignoreCase":true}`},
		{"Glob", `{"pattern":"*.go"}`, `find{"pattern":"*.go"}`},
		{"list_files", `{}`, `ls{}`},
		{"Bash", `{"shell_id":"1"}`, ``},
		{"Bash", `"ls"`, ``},
		{"mcp__x__y", `{"a":1}`, ``},
		{"bash", ``, ``},
	} {
		p := newPlace(t)
		p.append("s1", begins(skein.Created{}), skein.Say(at, skein.UserSays("do")), skein.Say(at, answer(callOf("c", c.name, c.input))), skein.Say(at, resultOf("c", "out")))
		home, done := p.export("s1")
		if c.want != "" {
			p.again(home, "s1", "user do | assistant "+c.want+" | tool =out")
			continue
		}
		if !slices.Contains(lost(done[0]), "calls of tools that pi does not have: as text") {
			t.Errorf("call of %s%s: losses are %v, want that it is words", c.name, c.input, lost(done[0]))
		}
		input := c.input
		if input == "" {
			input = "{}"
		}
		p.again(home, "s1", "user do | assistant [Called the tool "+c.name+", which no longer exists, with "+input+"] | user [The tool c answered:] out")
	}
}

func TestResultsStandNextToTheirCalls(t *testing.T) {
	p := newPlace(t)
	steer := skein.Message{Role: skein.RoleSteer, Parts: []skein.Part{skein.TextPart("hurry")}}
	p.append("s1", begins(skein.Created{}), skein.Say(at, skein.UserSays("do")),
		skein.Say(at+1, answer(callOf("c", "bash", `{"command":"a"}`), callOf("d", "bash", `{"command":"b"}`))),
		skein.Say(at+2, resultOf("c", "A")), skein.Say(at+3, steer), skein.Say(at+4, resultOf("d", "B")), skein.Say(at+5, resultOf("d", "again")),
		skein.Say(at+6, resultOf("x", "nobody's")), skein.Say(at+7, answer(skein.TextPart("done"))))
	home, done := p.export("s1")
	p.again(home, "s1", `user do | assistant bash{"command":"a"} bash{"command":"b"} | tool =A | tool =B | user hurry | user [The tool x answered:] nobody's | assistant done`)
	if !slices.Contains(lost(done[0]), "a second result of a call: left out") {
		t.Errorf("losses are %v, want the second result", lost(done[0]))
	}
}

func TestWhatWasGoneBackOverIsABranch(t *testing.T) {
	p := newPlace(t)
	p.append("s1", begins(skein.Created{}),
		skein.Say(at, skein.UserSays("one")), skein.Say(at+1, answer(skein.TextPart("yes"))), // 2, 3
		skein.Say(at+2, skein.UserSays("two")), // 4
		skein.NewEvent(skein.KindRewound, at+3, skein.Rewound{To: 3}),
		skein.Say(at+4, skein.UserSays("three")), // 6
		skein.NewEvent(skein.KindRewound, at+5, skein.Rewound{To: 4}),
		skein.Say(at+6, skein.UserSays("four")), // 8
		skein.NewEvent(skein.KindCompacted, at+7, skein.Compacted{To: 3, Summary: "S", Before: 9}),
		skein.Say(at+8, skein.UserSays("five")))
	home, done := p.export("s1")
	if got := lost(done[0]); !slices.Equal(got, []string{itsModel}) {
		t.Errorf("losses are %v, want the model alone", got)
	}
	p.again(home, "s1", "cuser one | cassistant yes | user two | -user three | user four | user five")
}

func TestReasoningAndPicturesGoThrough(t *testing.T) {
	p := newPlace(t)
	blob := skein.NewBlob([]byte("hi"))
	look := skein.Message{Role: skein.RoleUser, Parts: []skein.Part{skein.TextPart("look"), {Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: blob.Hash, Size: 2}}}}
	signed := `{"type":"thinking","thinking":"hm","signature":"sig"}`
	think := answer(skein.Part{Kind: skein.PartReasoning, Text: "hm", Raw: []byte(signed)}, skein.TextPart("ok"))
	b := skein.Batch{Session: "s1", Events: []skein.Event{begins(skein.Created{}), skein.Say(at, look), skein.Say(at+1, think)}, Blobs: []skein.Blob{blob}}
	if _, err := p.store.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	home, done := p.export("s1")
	es := p.entries(home, done[0])
	got := string(skein.MustJSON(es[1]["message"].(map[string]any)["content"])) + string(skein.MustJSON(es[2]["message"].(map[string]any)["content"]))
	want := `[{"text":"look","type":"text"},{"data":"aGk=","mimeType":"image/png","type":"image"}][{"thinking":"hm","thinkingSignature":"sig","type":"thinking"},{"text":"ok","type":"text"}]`
	if got != want || !slices.Equal(lost(done[0]), []string{itsModel}) {
		t.Errorf("contents are\n%s, losses %v, want\n%s and the model", got, lost(done[0]), want)
	}
}

func TestAForkIsWrittenAsOne(t *testing.T) {
	p := newPlace(t)
	p.append("s1", begins(skein.Created{}), skein.Say(at, skein.UserSays("one")), skein.Say(at+1, answer(skein.TextPart("yes"))))
	p.append("s2", begins(skein.Created{Parent: &skein.Parent{Session: "s1", Seq: 2, Why: skein.Fork}}), skein.Say(at+9, skein.UserSays("other")))
	home := filepath.Join(t.TempDir(), "agent")
	for _, id := range []skein.SessionID{"s1", "s2"} {
		if _, err := writeback.Export(t.Context(), p.store, pi.Format(), id, home, writeback.Exports{NoSide: true}); err != nil {
			t.Fatal(err)
		}
	}
	p.again(home, "s2", "user one | user other")
	q := newPlace(t)
	importAt(t, q.store, home)
	if f := q.session("s2").Parent; f == nil || f.Why != skein.Fork || f.Session != "s1" {
		t.Errorf("s2 is read as %+v, want a fork of s1", f)
	}
}

func TestAFileIsWrittenOn(t *testing.T) {
	p := newPlace(t)
	name := "sessions/x/" + stamp + "s1.jsonl"
	p.write(name, head("s1", ""), says("user", "a", "", "one"), says("assistant", "b", "a", "yes"), says("user", "c", "b", "two"))
	p.bring()
	s := p.session("s1")
	p.append("s1", skein.NewEvent(skein.KindRewound, at, skein.Rewound{To: s.Last - 1}), skein.Say(at, skein.UserSays("three")))
	sync := func(events int) {
		t.Helper()
		if done, err := writeback.Sync(t.Context(), p.store, pi.Format(), "s1"); err != nil || done.Events != events {
			t.Fatalf("Sync = %+v, %v, want %d events", done, err, events)
		}
		if rep := p.bring(); rep.Events != 0 {
			t.Errorf("Import of what was written = %+v, want nothing new", rep)
		}
		q := newPlace(t)
		importAt(t, q.store, p.dir)
		q.want("s1", words(t, p.store, "s1"))
	}
	sync(2)
	p.want("s1", "user one | assistant yes | -user two | user three")
	s = p.session("s1")
	p.append("s1", skein.Say(at+1, answer(skein.TextPart("no"))), skein.NewEvent(skein.KindRewound, at+2, skein.Rewound{To: s.Last}), skein.Say(at+3, answer(skein.TextPart("maybe"))))
	sync(3)
	p.want("s1", "user one | assistant yes | -user two | user three | -assistant no | assistant maybe")
}

// pi hides from the model what it takes for broken off.
func TestAnAnswerThatBrokeOffIsShownToTheModel(t *testing.T) {
	p := newPlace(t)
	words, empty, failed := answer(skein.TextPart("as far as")), answer(), answer(callOf("c", "bash", `{"command":"a"}`))
	words.Interrupted, empty.Interrupted, failed.Error = true, true, &skein.ErrorInfo{Message: "too much"}
	empty.Parts = []skein.Part{}
	p.append("s1", begins(skein.Created{}), skein.Say(at, skein.UserSays("do")), skein.Say(at+1, words), skein.Say(at+2, empty), skein.Say(at+3, failed), skein.Say(at+4, resultOf("c", "A")))
	home, done := p.export("s1")
	var stops []string
	for _, e := range p.entries(home, done[0]) {
		if m, ok := e["message"].(map[string]any); ok && m["role"] == "assistant" {
			stops = append(stops, m["stopReason"].(string))
		}
	}
	if want := []string{"length", "aborted", "toolUse"}; !slices.Equal(stops, want) {
		t.Errorf("answers ended with %v, want %v", stops, want)
	}
	if want := "answers that broke off: marked as cut off by length, so that the model sees them"; !slices.Contains(lost(done[0]), want) {
		t.Errorf("losses are %v, want %q", lost(done[0]), want)
	}
}
