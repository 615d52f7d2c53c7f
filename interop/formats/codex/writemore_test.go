package codex

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/store/memory"
)

func TestPicturesAndThoughtsAreWrittenAsFarAsCodexTakesThem(t *testing.T) {
	x := newExporting(t)
	dot := skein.NewBlob([]byte("\x89PNG dot"))
	url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(dot.Data)
	user := skein.UserSays("look")
	user.Parts = append(user.Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: dot.Hash}},
		skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "application/pdf", Name: "a.pdf"}})
	evs := []skein.Event{
		skein.NewEvent(skein.KindCreated, epoch, skein.Created{}), skein.Say(epoch, user),
		skein.Say(epoch, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartReasoning, Text: "a dot"}, skein.TextPart("A dot.")}}),
	}
	if _, err := x.store.Append(t.Context(), skein.Batch{Session: "pears:7", Events: evs, Blobs: []skein.Blob{dot}}); err != nil {
		t.Fatal(err)
	}
	x.export("pears:7")
	spot := x.done[0].Spot
	if !isUUID().MatchString(spot.ID) || !strings.HasSuffix(spot.Path, "-"+spot.ID+".jsonl") {
		t.Errorf("it is written as %+v, want a UUID", spot)
	}
	want := []string{
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"` + url + `"},{"type":"input_text","text":"[file a.pdf]"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A dot."}]}`,
	}
	if diff := cmp.Diff(want, x.lines(spot.Path, typeItem)); diff != "" {
		t.Errorf("the items (-want +got):\n%s", diff)
	}
	events := strings.Join(x.lines(spot.Path, typeEvent), "\n")
	for _, want := range []string{`"images":["` + url + `"]`, `{"type":"agent_reasoning","text":"a dot"}`} {
		if !strings.Contains(events, want) {
			t.Errorf("the events are\n%s\nwant %s", events, want)
		}
	}
	wantLost := interop.Losses{{What: "file: only its name is written", Count: 1, First: 2}, {What: "reasoning: shown, but not given to the model", Count: 1, First: 3}}
	if diff := cmp.Diff(wantLost, x.done[0].Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

func TestAChildIsASubAgentsThread(t *testing.T) {
	x := newExporting(t)
	const child = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d24"
	x.begin("0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", skein.Created{Cwd: "/p"}, skein.Say(epoch, skein.UserSays("count")),
		skein.Say(epoch, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{ID: "c", Name: "Task", Input: []byte(`{"prompt":"count the <pears>"}`)}}}}),
		skein.NewEvent(skein.KindTool, epoch, skein.ToolState{Call: "c", State: skein.Completed, Child: child}))
	x.begin(child, skein.Created{Cwd: "/p", Agent: "explorer", Parent: &skein.Parent{Session: "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", Why: skein.Child, Call: "c"}}, skein.Say(epoch, skein.UserSays("count the <pears>")))
	x.export("0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23")
	if len(x.done) != 2 {
		t.Fatalf("Export writes %+v, want two threads", x.done)
	}
	if got, want := x.lines(x.done[0].Spot.Path, typeItem)[1], `{"type":"function_call","name":"spawn_agent","arguments":"{\"message\":\"count the <pears>\"}","call_id":"c"}`; got != want {
		t.Errorf("the call is %s, want %s", got, want)
	}
	if got, want := x.lines(x.done[1].Spot.Path, typeMeta)[0], `"source":{"subagent":{"thread_spawn":{"parent_thread_id":"0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23","depth":1,"agent_role":"explorer"}}}`; !strings.Contains(got, want) {
		t.Errorf("the child's meta is %s, want %s in it", got, want)
	}
	to := x.read()
	s, err := to.Session(t.Context(), child)
	if err != nil || s.Parent == nil || s.Parent.Why != skein.Child || s.Parent.Session != "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23" {
		t.Errorf("the child is read as %+v, %v, want a child", s, err)
	}
}

// read imports what was written into another store.
func (x *exporting) read() *memory.Store {
	x.Helper()
	to := memory.New()
	x.Cleanup(func() { to.Close() })
	rep, err := importer.Import(x.Context(), to, []interop.Format{Format()}, []string{x.home}, interop.Options{})
	if err != nil || rep.Damaged+rep.Skipped != 0 {
		x.Fatalf("Import of what was written = %+v, %v, want no damage", rep, err)
	}
	return to
}

func TestAForkIsReadAsOne(t *testing.T) {
	x := newExporting(t)
	x.begin("0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", skein.Created{Cwd: "/p"}, skein.Say(epoch, skein.UserSays("one")), says("1"), skein.Say(epoch+9000, skein.UserSays("two")), says("2"))
	const fork = "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d25"
	_, err := x.store.Append(t.Context(), skein.Batch{Session: fork, Events: []skein.Event{
		skein.NewEvent(skein.KindCreated, epoch+20000, skein.Created{Parent: &skein.Parent{Session: "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23", Seq: 3, Why: skein.Fork}}),
		skein.Say(epoch+20000, skein.UserSays("other")), says("3"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	x.export("0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23")
	x.export(fork)
	to := x.read()
	s, err := to.Session(t.Context(), fork)
	if err != nil || s.Parent == nil || s.Parent.Why != skein.Fork || s.Parent.Session != "0191f3a0-5b7e-7c11-9d2a-4f6b8e0c1d23" {
		t.Errorf("the fork is read as %+v, %v, want a fork", s, err)
	}
}

func TestWhatCodexWroteIsWrittenAgainAsItWas(t *testing.T) {
	x := newExporting(t)
	items := []string{
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`,
		`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"}`,
		`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I go."}],"phase":"commentary"}`,
		`{"type":"function_call","id":"fc_1","name":"find","namespace":"mcp__trees","arguments":"{\"n\":1.50}","call_id":"call_1"}`,
		`{"type":"function_call_output","call_id":"call_1","output":"none"}`,
		`{"type":"custom_tool_call","id":"ct_1","status":"completed","call_id":"call_2","name":"apply_patch","input":"*** Begin"}`,
		`{"type":"custom_tool_call_output","call_id":"call_2","output":"{\"output\":\"bad\",\"metadata\":{\"exit_code\":1}}"}`,
		`{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"trees"}}`,
		`{"type":"tool_search_call","call_id":"call_3","status":"completed","execution":"client","arguments":{"query":"x"}}`,
		`{"type":"tool_search_output","call_id":"call_3","status":"completed","execution":"client","tools":[{"name":"y"}]}`,
		`{"type":"local_shell_call","call_id":"call_4","status":"completed","action":{"type":"exec","command":["ls"]}}`,
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}`,
	}
	lines := []string{wrap("session_meta", `{"id":"`+threadOne+`","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/home/ada","originator":"codex-tui","cli_version":"0.130.0","source":"cli","model_provider":"openai"}`)}
	for _, it := range items {
		lines = append(lines, wrap("response_item", it))
	}
	lines = append(lines, wrap("event_msg", `{"type":"task_complete","turn_id":"t"}`), "")
	x.lay(lines...)
	if _, err := skein.Add(t.Context(), x.store, threadOne, says("And more.")); err != nil {
		t.Fatal(err)
	}
	x.home = t.TempDir()
	x.export(threadOne)
	want := append(items, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"And more."}]}`)
	if diff := cmp.Diff(want, x.lines(x.done[0].Spot.Path, typeItem)); diff != "" || len(x.done[0].Losses) != 0 {
		t.Errorf("the items (-want +got), losing %+v:\n%s", x.done[0].Losses, diff)
	}
}

func TestACountedThreadIsWrittenCountedElsewhere(t *testing.T) {
	x := newExporting(t)
	x.lay(
		`{"timestamp":"2026-05-04T09:00:00.000Z","ordinal":3,"type":"session_meta","payload":{"id":"`+threadOne+`","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/home/ada","originator":"codex-tui","cli_version":"0.169.0","source":"cli","model_provider":"azure","history_mode":"paginated","history_base":{"thread_id":"x"}}}`,
		`{"timestamp":"2026-05-04T09:00:01.000Z","ordinal":4,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}}`, "")
	if _, err := skein.Add(t.Context(), x.store, threadOne, says("Hello.")); err != nil {
		t.Fatal(err)
	}
	x.home = t.TempDir()
	x.export(threadOne)
	b, err := os.ReadFile(filepath.Join(x.home, filepath.FromSlash(threadAt)))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for i, l := range lines {
		if want := `,"ordinal":` + strconv.Itoa(i) + `,`; !strings.Contains(l, want) {
			t.Errorf("line %d is %s, want %s in it", i+1, l, want)
		}
	}
	if want := `"source":"cli","model_provider":"azure","history_mode":"paginated"}}`; !strings.HasSuffix(lines[0], want) {
		t.Errorf("the meta is %s, want %s at its end", lines[0], want)
	}
	if !strings.Contains(lines[2], `"type":"item_completed"`) || len(lines) != 4 {
		t.Errorf("the lines are\n%s\nwant 4 with an item in the third", b)
	}
}

func TestBelowIsWhereCodexKeepsIt(t *testing.T) {
	const name = "rollout-2026-05-04T09-00-00-" + threadOne + ".jsonl"
	for path, want := range map[string]string{
		"/h/.codex/sessions/2026/05/04/" + name:        "sessions/2026/05/04/" + name,
		"/h/sessions/.codex/archived_sessions/" + name: "archived_sessions/" + name,
		"/h/.codex/session_index.jsonl":                "session_index.jsonl",
		"/tmp/" + name:                                 "sessions/2026/05/04/" + name,
		"/tmp/odd.jsonl":                               "odd.jsonl",
	} {
		if got := Format().Below(path); got != want {
			t.Errorf("Below(%s) = %s, want %s", path, got, want)
		}
	}
	command, dir := Format().Resume(interop.Spot{ID: threadOne}, skein.Session{Project: "/p"})
	if strings.Join(command, " ") != "codex resume "+threadOne || dir != "/p" {
		t.Errorf("Resume = %q in %s, want codex resume in /p", command, dir)
	}
	h := interop.Home{Dir: "/h", Env: func(string) string { return "" }}
	if got, want := filepath.ToSlash(interop.HomeOf(Format(), h)), "/h/.codex"; got != want {
		t.Errorf("HomeOf = %s, want %s", got, want)
	}
}

func TestEachRequestIsChargedOnceAndEachCallHasAnIDOfItsOwn(t *testing.T) {
	x := newExporting(t)
	long := strings.Repeat("x", 65)
	said := func(usage int64, calls ...string) skein.Event {
		m := skein.Message{Role: skein.RoleAssistant, Request: "r", Usage: &skein.Usage{Input: 10, Output: usage}}
		for _, id := range calls {
			m.Parts = append(m.Parts, skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: "Bash", Input: []byte(`{"command":"ls"}`)}})
		}
		return skein.Say(epoch, m)
	}
	answered := func(id string) skein.Event {
		return skein.Say(epoch, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: id, Text: "a"}}}})
	}
	x.begin("s", skein.Created{}, skein.Say(epoch, skein.UserSays("go")), said(3, long), answered(long), said(5, "c"), answered("c"),
		said(5, "c"), answered("c"), answered("c"), skein.Say(epoch, skein.UserSays("no")), skein.NewEvent(skein.KindRewound, epoch, skein.Rewound{To: 9}))
	x.export("s")
	items := x.lines(x.done[0].Spot.Path, typeItem)
	if got, want := items[1], `"call_id":"`+callID(long)+`"}`; !strings.HasSuffix(got, want) || len(callID(long)) > 64 {
		t.Errorf("the call is %s, want %s", got, want)
	}
	ids := map[string]int{}
	for _, it := range items {
		if _, id, ok := strings.Cut(it, `"call_id":"`); ok {
			id, _, _ = strings.Cut(id, `"`)
			ids[id]++
		}
	}
	for id, n := range ids {
		if n != 2 || len(ids) != 3 {
			t.Errorf("call %s stands in %d items of %d calls, want in 2 of 3:\n%s", id, n, len(ids), strings.Join(items, "\n"))
		}
	}
	if got := items[len(items)-1]; !strings.Contains(got, "[The tool c answered: a]") {
		t.Errorf("a result without a call is %s, want it in words", got)
	}
	var counts []string
	for _, e := range x.lines(x.done[0].Spot.Path, typeEvent) {
		if strings.Contains(e, "token_count") {
			counts = append(counts, e)
		}
	}
	if len(counts) != 2 || !strings.Contains(counts[1], `"total_token_usage":{"input_tokens":10,`) || !strings.Contains(counts[1], `"output_tokens":5,`) {
		t.Errorf("the counts are\n%s\nwant two, 10 tokens in and 5 out in all", strings.Join(counts, "\n"))
	}
	if l := x.done[0].Losses; len(l) != 2 || l[0].What != "rewound messages: left out" {
		t.Errorf("losses = %+v, want that a message was gone back over", l)
	}
}
