package agentuse

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/folder"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/watch"
	"github.com/skein-dev/skein/store/memory"
)

const (
	ann      = "01KXAMPE0000000000000000A1"
	message1 = "01KXAMPE0000000000000000M1"
)

// A tree is one of AgentUse's folders and a store.
type tree struct {
	*testing.T
	home  string
	store *memory.Store
}

func newTree(t *testing.T) *tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := &tree{t, dir, memory.New()}
	t.Cleanup(func() { tr.store.Close() })
	return tr
}

func (t *tree) session() string {
	return filepath.Join(t.home, "project", "00aa", "session", ann+"-helper")
}

func (t *tree) write(name, text string) {
	t.Helper()
	at := filepath.Join(t.session(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	temp := at + ".7.tmp" // as the program does
	if err := os.WriteFile(temp, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, at); err != nil {
		t.Fatal(err)
	}
}

// part writes part n of the first message.
func (t *tree) part(n int, text string) {
	t.Helper()
	id := fmt.Sprintf("01KXAMPE00000000000000P%03d", n)
	t.write(message1+"/part/"+id+".json", strings.TrimSuffix(text, "}")+fmt.Sprintf(`,"id":%q,"messageID":%q}`, id, message1))
}

// begin writes a session with a message, a while ago: its file is not being
// written.
func (t *tree) begin(session string) {
	t.Helper()
	t.write("session.json", session)
	then := time.Now().Add(-interop.TornFor)
	if err := os.Chtimes(filepath.Join(t.session(), "session.json"), then, then); err != nil {
		t.Fatal(err)
	}
	t.write(message1+"/message.json", `{"id":"`+message1+`","time":{"created":1000},"user":{"prompt":{"task":"do it"}},"assistant":{"system":[],"modelID":"openai:gpt-5","providerID":"openai","tokens":{"input":0,"output":0,"cache":{}}}}`)
}

func (t *tree) bring() interop.Report {
	t.Helper()
	return bring(t.T, t.store, t.home)
}

func bring(t testing.TB, s skein.Store, home string) interop.Report {
	t.Helper()
	rep, err := importer.Import(context.Background(), s, []interop.Format{Format()}, []string{home}, interop.Options{})
	if err != nil {
		t.Fatalf("Import(%s) = %v", home, err)
	}
	return rep
}

func (t *tree) wants(id, want string) {
	t.Helper()
	if got := tell(t.T, t.store, id); got != want {
		t.Errorf("events of %s:\n%s\nwant\n%s", id, got, want)
	}
}

// tell returns the events of a session except the first, each in a few words.
func tell(t testing.TB, s skein.Store, id string) string {
	t.Helper()
	var words []string
	for e, err := range s.Events(context.Background(), skein.SessionID(id), 0) {
		if err != nil {
			t.Fatalf("Events(%s) = %v", id, err)
		}
		if e.Kind != skein.KindCreated {
			words = append(words, word(t, e))
		}
	}
	return strings.Join(words, " | ")
}

func word(t testing.TB, e skein.Event) string {
	t.Helper()
	f, err := skein.FactsOf(e)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case f.Message != nil:
		out := string(f.Message.Role)
		for _, p := range f.Message.Parts {
			switch {
			case p.Call != nil:
				out += fmt.Sprintf(" %s(%s)", p.Call.Name, p.Call.Input)
			case p.Result != nil:
				out += fmt.Sprintf(" =%s%s", p.Result.Text, p.Result.Raw)
				for _, f := range p.Result.Files {
					out += fmt.Sprintf(" file %s %d", f.Name, f.Size)
				}
			case p.Kind == skein.PartText:
				out += " " + string(p.Text)
			default:
				out += " " + string(p.Kind) + ":" + string(p.Text)
			}
		}
		return out
	case f.Tool != nil:
		return "tool " + string(f.Tool.State)
	case e.Kind == skein.KindStep:
		return stepWord(t, e)
	case f.Amended != nil && f.Amended.Withdrawn:
		return fmt.Sprintf("-%d", f.Amended.Seq)
	case f.Amended != nil:
		return fmt.Sprintf("amended %d", f.Amended.Seq)
	case e.Kind == skein.KindChanged:
		return string(e.Payload)
	case e.Kind == skein.KindNoted:
		n, _ := skein.Decode[skein.Noted](e)
		return n.Name
	}
	return string(e.Kind)
}

func stepWord(t testing.TB, e skein.Event) string {
	t.Helper()
	s, err := skein.Decode[skein.Step](e)
	switch {
	case err != nil:
		t.Fatal(err)
	case s.Error != nil:
		return "error " + s.Error.Kind
	}
	return fmt.Sprintf("used %d+%d+%d %d", s.Usage.Input, s.Usage.CacheRead, s.Usage.CacheWrite, s.Usage.Output)
}

func TestPartsOfEveryType(t *testing.T) {
	for _, c := range []struct{ part, want string }{
		{`{"type":"text","text":"hi \ud800<b>","time":{"start":1}}`, "assistant hi \xed\xa0\x80<b>"},
		{`{"type":"text","text":"go on","role":"user"}`, "user go on"},
		{`{"type":"text","text":"x","superseded":true}`, "agentuse:superseded"},
		{`{"type":"reasoning","text":"hm","metadata":{"a":1},"time":{"start":1,"end":2}}`, "assistant reasoning:hm"},
		{`{"type":"tool","callID":"c","tool":"bash","state":{"status":"pending","input":{"p":1},"suspendedAt":5,"resumePayload":{"kind":"await_human"}}}`, `assistant bash({"p":1}) | tool pending`},
		{`{"type":"tool","callID":"c","tool":"bash","state":{"status":"running","input":{"n":1.50},"time":{"start":5}}}`, `assistant bash({"n":1.50}) | tool running`},
		{`{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":"ok","time":{"start":5,"end":6}}}`, `assistant bash({}) | tool completed | tool =ok`},
		{`{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":{"k":[1]},"time":{"start":5,"end":6}}}`, `assistant bash({}) | tool completed | tool ={"k":[1]}`},
		{`{"type":"tool","callID":"c","tool":"bash","state":{"status":"error","input":{},"error":"no","time":{"start":5,"end":6}}}`, `assistant bash({}) | tool error | tool =no`},
		{`{"type":"tool","callID":"c","tool":"bash","state":{"status":"odd"}}`, `assistant bash() | tool uncertain`},
		{
			`{"type":"tool","callID":"c","tool":"big","state":{"status":"completed","input":{},"output":{"kind":"tool-output","path":"x/artifact/tool-output-big-1.txt","bytes":4},"time":{"start":5,"end":6}}}`,
			`assistant big({}) | tool completed | tool ={"kind":"tool-output","path":"x/artifact/tool-output-big-1.txt","bytes":4} file tool-output-big-1.txt 4`,
		},
		{`{"type":"log","level":"warn","message":"m","time":{"start":1}}`, "agentuse:log"},
		{`{"type":"compaction","reason":"limit","tokensBefore":9}`, "agentuse:compaction"},
		{`{"type":"learning","status":"none"}`, "agentuse:learning"},
		{`{"type":"error","source":"agent","message":"m"}`, "error error"},
		{`{"type":"file","mime":"image/png","filename":"a.png","url":"file:///a.png"}`, "assistant file:"},
		{`{"type":"agent","name":"scout"}`, "assistant agent:scout"},
		{`{"type":"step-start"}`, "agentuse:step-start"},
		{`{"type":"patch","hash":"h","files":["a"]}`, "agentuse:patch"},
		{`{"type":"unheard-of"}`, "agentuse:unheard-of"},
	} {
		tr := newTree(t)
		tr.begin(`{"id":"` + ann + `","agent":{"name":"Helper"},"model":"openai:gpt-5","time":{"created":1}}`)
		tr.write(message1+"/artifact/tool-output-big-1.txt", "long")
		tr.part(1, c.part)
		if rep := tr.bring(); rep.Damaged != 0 {
			t.Errorf("part %s: Import = %+v, want no damage", c.part, rep)
		}
		tr.wants(ann, "{} | user do it | "+c.want)
	}
}

func TestSessionsOfEveryGeneration(t *testing.T) {
	for _, c := range []struct{ name, session, status, agent string }{
		{"0.4", `{"id":"a","agent":{"name":"Code Reviewer","isSubAgent":false},"model":"anthropic:claude","version":"0.4.0","config":{},"project":{"root":"/p","cwd":"/p/a"},"time":{"created":1,"updated":2}}`, "{}", "Code Reviewer"},
		{"0.15", `{"agent":{"id":"agents/x","name":"x"},"model":"anthropic:claude","id":"a","status":"error","trigger":"slack","time":{"created":1,"updated":2},"error":{"code":"TIMEOUT","message":"m","time":2}}`, `{"status":"error"} | error TIMEOUT`, "x"},
		{"after two writers", `{"id":"a","agent":{"name":"x"},"model":"anthropic:claude","status":"completed","time":{"created":1}} "}`, `{"status":"completed"}`, "x"},
		{"odd values", `{"id":"a","agent":{"name":"x"},"model":"anthropic:claude","status":"completed","time":{"created":1e99,"updated":"no"}}`, `{"status":"completed"}`, "x"},
	} {
		tr := newTree(t)
		tr.begin(c.session)
		tr.bring()
		tr.wants(ann, c.status+" | user do it")
		s, err := tr.store.Session(t.Context(), ann)
		if err != nil || s.Agent != c.agent || s.Provider != "anthropic" || s.Model != "claude" {
			t.Errorf("%s: session = %+v, %v, want agent %s and anthropic's claude", c.name, s, err, c.agent)
		}
	}
}

func TestAPartThatChangesIsAmended(t *testing.T) {
	tr := newTree(t)
	tr.begin(`{"id":"a","agent":{"name":"x"},"status":"running","time":{"created":1}}`)
	tr.part(1, `{"type":"tool","callID":"c","tool":"bash","state":{"status":"running","input":{},"time":{"start":5}}}`)
	tr.bring()
	tr.part(1, `{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{},"output":"ok","time":{"start":5,"end":6}}}`)
	tr.write("session.json", `{"id":"a","agent":{"name":"x"},"status":"completed","time":{"created":1}}`)
	tr.bring()
	tr.wants(ann, `{"status":"running"} | user do it | assistant bash({}) | tool running | {"status":"completed"} | amended 5 | tool =ok`)
	if err := os.Remove(filepath.Join(tr.session(), message1, "part", "01KXAMPE00000000000000P001.json")); err != nil {
		t.Fatal(err)
	}
	if rep := tr.bring(); rep.Amended != 3 {
		t.Errorf("Import without the part = %+v, want 3 events withdrawn", rep)
	}
	if rep := tr.bring(); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
}

func TestWhatIsDamagedIsNamedAndTheRestRead(t *testing.T) {
	tr := newTree(t)
	tr.begin(`{"id":`)
	tr.part(1, `{"type":"text","text":"there"}`)
	tr.part(2, strings.Repeat(`{"a":`, 2000)+"1"+strings.Repeat("}", 2000))
	tr.write("subagent/../"+message1+"/part/01KXAMPE00000000000000P999.json.12.tmp", "half")
	rep := tr.bring()
	if rep.Damaged != 2 {
		t.Errorf("Import = %+v, want 2 damaged files", rep)
	}
	tr.wants(ann, "user do it | assistant there")
}

func TestTokensDoNotCountTheCacheTwice(t *testing.T) {
	tr := newTree(t)
	tr.write("session.json", `{"id":"a","agent":{"name":"x"},"model":"openai:gpt-5"}`)
	tr.write(message1+"/message.json", `{"id":"`+message1+`","time":{"created":1,"completed":2},"user":{"prompt":{"task":"t","user":"u"}},"assistant":{"system":["be good"],"modelID":"openai:gpt-5","providerID":"openai","tokens":{"input":1000,"output":20,"reasoning":5,"cache":{"read":600,"write":100}}}}`)
	tr.bring()
	tr.wants(ann, "{} | system be good | user t u | used 300+600+100 20")
}

// Steps are usage, and a message has their sum as soon as it is complete: what both
// have is counted once, and what only the steps have is counted too.
func TestTheStepsOfAMessageAreUsageThatIsCountedOnce(t *testing.T) {
	tr := newTree(t)
	tr.write("session.json", `{"id":"a","agent":{"name":"x"},"model":"openai:gpt-5"}`)
	message := func(cost, input, output string) {
		tr.write(message1+"/message.json", `{"id":"`+message1+`","time":{"created":1,"completed":2},"user":{"prompt":{"task":"t"}},"assistant":{"modelID":"openai:gpt-5","cost":`+cost+`,"tokens":{"input":`+input+`,"output":`+output+`,"reasoning":0,"cache":{"read":0,"write":0}}}}`)
	}
	wants := func(name string, used skein.Usage) {
		t.Helper()
		tr.bring()
		rows, err := tr.store.Usage(t.Context(), skein.UsageQuery{By: skein.BySession})
		want := []skein.UsageRow{{Of: ann, Provider: "openai", Model: "gpt-5", Usage: used, Recorded: used}}
		if diff := cmp.Diff(want, rows); diff != "" || err != nil {
			t.Errorf("%s: Usage (%v; -want +got):\n%s", name, err, diff)
		}
	}
	message("0", "0", "0")
	tr.part(1, `{"type":"step-finish","cost":0.125,"tokens":{"input":150000,"output":10,"reasoning":0,"cache":{"read":0,"write":0}}}`)
	wants("running", skein.Usage{Input: 150_000, Output: 10, Requests: 1, Reported: 125_000_000})
	tr.part(2, `{"type":"step-finish","cost":0.125,"tokens":{"input":150000,"output":10,"reasoning":5,"cache":{"read":0,"write":0}}}`)
	wants("running on", skein.Usage{Input: 300_000, Output: 20, Reasoning: 5, Requests: 1, Reported: 250_000_000})
	message("0.25", "300000", "20")
	wants("complete", skein.Usage{Input: 300_000, Output: 20, Reasoning: 5, Requests: 1, Reported: 250_000_000})
	message("0.5", "400000", "30") // a step has left no part
	wants("more than its steps", skein.Usage{Input: 400_000, Output: 30, Reasoning: 5, Requests: 1, Reported: 500_000_000})
}

func FuzzFiles(f *testing.F) {
	f.Add("session.json", `{"id":"a","time":{"created":1},"error":{"code":1}}`)
	f.Add("M/message.json", `{"user":{"prompt":{"task":"x"}},"assistant":{"tokens":{"input":1e300}}}`)
	f.Add("M/part/P.json", `{"type":"tool","state":{"status":"completed","output":{}}}`)
	f.Add("part/.json", `{"type":"tool","state":{"status":"completed"}}`) // neither has an ID
	f.Fuzz(func(t *testing.T, name, text string) {
		if !strings.HasSuffix(name, ".json") || len(name) > 100 {
			return
		}
		r := open(interop.File{Path: "/x/session/" + ann + "-a"})
		made, err := r.Read(interop.Line{Body: folder.Whole(folder.File{Name: name}, []byte(text)).Append(nil)})
		if err != nil {
			return
		}
		for _, it := range made.Items {
			if _, err := skein.FactsOf(skein.Event{Seq: 1, Kind: it.Event.Kind, Payload: it.Event.Payload}); err != nil {
				t.Errorf("file %s %q makes an event that cannot be read: %v", name, text, err)
			}
		}
	})
}

func TestAFileThatIsCutAnywhereIsDamagedOrWhole(t *testing.T) {
	text := "{\n  \"type\": \"text\",\n  \"text\": \"é said\",\n  \"time\": {\n    \"start\": 1\n  }\n}"
	for at := range text {
		tr := newTree(t)
		tr.begin(`{"id":"a","agent":{"name":"x"}}`)
		name := message1 + "/part/01KXAMPE00000000000000P001.json"
		tr.write(name, text[:at])
		if rep := tr.bring(); rep.Damaged != 1 {
			t.Fatalf("cut at byte %d: Import = %+v, want 1 damaged file", at, rep)
		}
		tr.write(name, text)
		tr.bring()
		tr.wants(ann, "{} | user do it | assistant é said")
		if t.Failed() {
			return
		}
	}
}

func TestWatchFollowsParts(t *testing.T) {
	tr := newTree(t)
	tr.begin(`{"id":"a","agent":{"name":"x"},"status":"running"}`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	reports := make(chan interop.Report, 100)
	done := make(chan error, 1)
	go func() {
		done <- watch.Watch(ctx, tr.store, []interop.Format{Format()}, []string{tr.home}, interop.Options{}, func(r interop.Report) { reports <- r })
	}()
	wait := func(want string) {
		t.Helper()
		end := time.After(5 * time.Minute)
		for tell(t, tr.store, ann) != want {
			select {
			case <-reports:
			case <-end:
				t.Fatalf("events at last: %s, want %s", tell(t, tr.store, ann), want)
			}
		}
	}
	<-reports
	tr.part(1, `{"type":"text","text":"a"}`)
	wait(`{"status":"running"} | user do it | assistant a`)
	tr.part(1, `{"type":"text","text":"a b"}`)
	wait(`{"status":"running"} | user do it | assistant a | amended 4`)
	stop()
	if err := <-done; err != nil {
		t.Errorf("Watch = %v", err)
	}
}
