package copilot

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/interop/writeback"
	"github.com/skein-dev/skein/store/memory"
)

// A place is a folder with session files, and a store that they are imported
// to.
type place struct {
	*testing.T
	dir   string
	store *memory.Store
	at    time.Time
}

func newPlace(t *testing.T) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	return &place{t, dir, s, time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
}

func (p *place) write(name, text string) string {
	p.Helper()
	at := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
	p.at = p.at.Add(time.Minute)
	if err := os.Chtimes(at, p.at, p.at); err != nil {
		p.Fatal(err)
	}
	return at
}

func (p *place) load() interop.Report {
	p.Helper()
	rep, err := importer.Import(context.Background(), p.store, []interop.Format{Format()}, []string{p.dir}, interop.Options{})
	if err != nil {
		p.Fatal(err)
	}
	return rep
}

func (p *place) session(id skein.SessionID) skein.Session {
	p.Helper()
	s, err := p.store.Session(context.Background(), id)
	if err != nil {
		p.Fatal(err)
	}
	return s
}

const (
	started = `{"type":"session.start","data":{"sessionId":"s1","producer":"copilot-agent","copilotVersion":"1"},"id":"a"}` + "\n"
	asks    = `{"type":"user.message","data":{"content":"ask"},"id":"b"}` + "\n"
)

func says(id, tokens string) string {
	return `{"type":"assistant.message","data":{"messageId":"` + id + `","content":"say","outputTokens":` + tokens + `,"requestId":"` + id + `","model":"m"},"id":"` + id + `"}` + "\n"
}

func ends(id, in, out string) string {
	return `{"type":"session.shutdown","data":{"modelMetrics":{"m":{"usage":{"inputTokens":` + in + `,"outputTokens":` + out + `}}}},"id":"` + id + `"}` + "\n"
}

func endsWith(id, in, out, requests string) string {
	return strings.Replace(ends(id, in, out), `{"usage":`, `{"requests":{"count":`+requests+`,"cost":1},"usage":`, 1)
}

func TestTheTitleComesFromBesideTheEvents(t *testing.T) {
	p := newPlace(t)
	p.write("session-state/s1/workspace.yaml", "id: s1\ncwd: /home/ada\nsummary: |-\n  List the\n  files\nsummary_count: 0\n")
	p.write("session-state/s1/events.jsonl", started+asks)
	p.load()
	if got := p.session("s1").Title; got != "List the files" {
		t.Errorf("title = %q, want that of the summary", got)
	}
	p.write("session-state/s1/workspace.yaml", "id: s1\nname: 'Ada''s files'\nsummary: List the files\n")
	p.load()
	if got := p.session("s1").Title; got != "Ada's files" {
		t.Errorf("title = %q, want that of the name", got)
	}
	if rep := p.load(); rep.Events != 0 {
		t.Errorf("Import again = %+v, want nothing new", rep)
	}
}

func TestAStartAloneMakesNoSession(t *testing.T) {
	p := newPlace(t)
	p.write("session-state/s1/events.jsonl", started)
	if rep := p.load(); rep.Sessions != 0 {
		t.Errorf("Import of a session that was only started = %+v, want no session", rep)
	}
	p.write("session-state/s1/events.jsonl", started+asks)
	if rep := p.load(); rep.Sessions != 1 || p.session("s1").Turns != 1 {
		t.Errorf("Import after a prompt = %+v, want a session of one turn", rep)
	}
}

func TestWhatARunUsedIsCountedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		lines string
		want  skein.Usage
	}{
		"with the requests that no message tells of": {says("r1", "10") + says("r2", "5") + endsWith("e", "100", "18", "4"), skein.Usage{Input: 100, Output: 18, Requests: 4}},
		"of all runs, with their requests":           {says("r1", "10") + endsWith("e", "100", "10", "2") + says("r2", "5") + endsWith("f", "180", "15", "3"), skein.Usage{Input: 180, Output: 15, Requests: 3}},
		"in all at the end":                          {says("r1", "10") + says("r2", "5") + ends("e", "100", "15"), skein.Usage{Input: 100, Output: 15, Requests: 2}},
		"of all runs together":                       {says("r1", "10") + ends("e", "100", "10") + says("r2", "5") + ends("f", "180", "15"), skein.Usage{Input: 180, Output: 15, Requests: 2}},
		"of each run":                                {says("r1", "10") + ends("e", "100", "10") + says("r2", "5") + ends("f", "80", "5"), skein.Usage{Input: 180, Output: 15, Requests: 2}},
		"where no message tells of it":               {ends("e", "100", "10"), skein.Usage{Input: 100, Output: 10, Requests: 1}},
		"though it never ended":                      {says("r1", "10"), skein.Usage{Output: 10, Requests: 1}},
		"though it was told twice":                   {says("r1", "10") + ends("e", "100", "10") + ends("f", "100", "10"), skein.Usage{Input: 100, Output: 10, Requests: 1}},
	} {
		p := newPlace(t)
		p.write("session-state/s1/events.jsonl", started+asks+test.lines)
		p.load()
		if got := p.session("s1").Usage; got != test.want {
			t.Errorf("%s: usage = %+v, want %+v", name, got, test.want)
		}
	}
}

func TestAFileThatWasCutBackIsWithdrawn(t *testing.T) {
	p := newPlace(t)
	p.write("session-state/s1/events.jsonl", started+asks+says("r1", "10"))
	p.load()
	p.write("session-state/s1/events.jsonl", started+asks)
	if rep := p.load(); rep.Amended == 0 {
		t.Errorf("Import of what is left = %+v, want what was cut off withdrawn", rep)
	}
}

func TestNoSubagentHangsOnItself(t *testing.T) {
	p := newPlace(t)
	p.write("session-state/s1/events.jsonl", started+asks+
		`{"type":"assistant.message","data":{"toolRequests":[{"toolCallId":"x","name":"task"}]},"id":"1","agentId":"a/../b"}`+"\n"+
		`{"type":"subagent.started","data":{"toolCallId":"x","agentName":"n"},"id":"2","agentId":"a/../b"}`+"\n"+
		`{"type":"assistant.message","data":{"content":"deep","parentToolCallId":"x"},"id":"3"}`+"\n"+
		`{"type":"assistant.message","data":{"toolRequests":[{"toolCallId":"y","name":"task"}],"parentToolCallId":"y"},"id":"4"}`+"\n"+
		`{"type":"subagent.started","data":{"toolCallId":"y","agentName":"n"},"id":"5"}`+"\n")
	if rep := p.load(); rep.Damaged != 0 || rep.Sessions < 2 {
		t.Errorf("Import = %+v, want the session and its sub-agents", rep)
	}
}

func TestOddValuesAreKept(t *testing.T) {
	p := newPlace(t)
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	p.write("session-state/s1/events.jsonl", started+
		`{"type":"user.message","data":{"content":{"no":"text"},"attachments":[7,{"type":"file"},{"type":"blob","data":"%%"}]},"id":"b","timestamp":"yesterday"}`+"\n"+
		`{"type":"assistant.message","data":{"content":"x","outputTokens":1e99,"toolRequests":[3,{"toolCallId":"c","name":"n","arguments":`+deep+`}]},"id":"c"}`+"\n"+
		`{"type":"tool.execution_complete","data":{"toolCallId":"c","success":"yes","result":[1]},"id":"d"}`+"\n"+
		`{"type":"tool.execution_start","data":null,"id":"e"}`+"\n"+
		`{"type":"x\ud800","data":[],"id":"f\u0000"}`+"\n"+
		`{"TYPE":"user.message","type":"user.message","type":"session.info","data":{"message":"m"}}`+"\n"+
		`[1]`+"\n"+`{"type":"session.shutdown","data":{"modelMetrics":{"m":7,"n":{"usage":[]}}},"id":"g"}`+"\n")
	rep := p.load()
	if rep.Damaged != 1 || rep.Sessions != 1 {
		t.Errorf("Import = %+v, want one session and the list as damaged", rep)
	}
	for e, err := range p.store.Events(context.Background(), "s1", 0) {
		if err != nil || !json.Valid(e.Payload) {
			t.Errorf("event %d: payload %.100s is no JSON (%v)", e.Seq, e.Payload, err)
		}
	}
}

// metrics is what a real file has about its models at the end.
type metrics struct {
	Type string
	Data struct {
		ModelMetrics map[string]struct {
			Requests struct{ Count int64 }
			Usage    struct{ InputTokens, OutputTokens, CacheReadTokens, CacheWriteTokens, ReasoningTokens int64 }
		}
	}
}

func TestCorpusEventsAreReadWholeOnceAndGivenBack(t *testing.T) {
	root := os.Getenv("SKEIN_CORPUS")
	if root == "" {
		t.Skip("SKEIN_CORPUS is not set: no real sessions to read")
	}
	files, err := filepath.Glob(filepath.Join(root, "copilot-cli", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Skipf("%s has no folder copilot-cli: no real sessions to read", root)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want skein.Usage
		for line := range bytes.Lines(data) {
			var m metrics
			if json.Unmarshal(line, &m) != nil || m.Type != "session.shutdown" {
				continue
			}
			for _, one := range m.Data.ModelMetrics {
				u := one.Usage
				want = want.Plus(skein.Usage{
					Input: u.InputTokens - u.CacheReadTokens - u.CacheWriteTokens, Output: u.OutputTokens, Reasoning: u.ReasoningTokens,
					CacheRead: u.CacheReadTokens, CacheWrite: u.CacheWriteTokens, Requests: one.Requests.Count,
				})
			}
		}
		p := newPlace(t)
		at := p.write("session-state/real/events.jsonl", string(data))
		if rep := p.load(); rep.Damaged != 0 || rep.Sessions != 1 {
			t.Errorf("Import(%s) = %+v, want a session and no damage", file, rep)
		}
		for s, err := range p.store.Sessions(context.Background(), skein.Filter{}) {
			if err != nil || s.Usage != want || s.Turns != bytes.Count(data, []byte(`"type":"user.message"`))-bytes.Count(data, []byte(`"data":{"content":"","trans`)) {
				t.Errorf("%s: usage %+v and %d turns (%v), want %+v", file, s.Usage, s.Turns, err, want)
			}
		}
		if rep := p.load(); rep.Events != 0 {
			t.Errorf("Import(%s) again = %+v, want nothing new", file, rep)
		}
		var back bytes.Buffer
		if err := writeback.WriteSource(context.Background(), p.store, Name, at, &back); err != nil || !bytes.Equal(back.Bytes(), data) {
			t.Errorf("WriteSource(%s) = %v and %d bytes, want the file's %d", file, err, back.Len(), len(data))
		}
	}
}
