package copilotvscode

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
	"github.com/skein-dev/skein/interop/interoptest"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/memory"
)

func TestDocuments(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: Format(), Dir: "testdata/documents"})
}

// logs is the format without its documents: files that are read as they grow.
func logs() interop.Format {
	f := Format()
	f.Unit, f.Look, f.Put = nil, nil, nil
	return f
}

func TestLogs(t *testing.T) {
	interoptest.Run(t, interoptest.Suite{Format: logs(), Dir: "testdata/logs"})
}

func FuzzLogs(f *testing.F) {
	interoptest.Fuzz(f, interoptest.Suite{Format: logs(), Dir: "testdata/logs"})
}

// load imports a document that is text, twice, and returns the store.
func load(t *testing.T, text string) (*memory.Store, interop.Report, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "chatSessions", "s1.json")
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	rep, err := importer.Import(context.Background(), s, []interop.Format{Format()}, []string{dir}, interop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := importer.Import(context.Background(), s, []interop.Format{Format()}, []string{dir}, interop.Options{})
	if err != nil || again.Events != 0 {
		t.Errorf("second Import = %+v, %v, want nothing new", again, err)
	}
	return s, rep, at
}

func TestOddValuesAreKept(t *testing.T) {
	deep := strings.Repeat(`{"children":[`, 900) + strings.Repeat(`]}`, 900)
	s, rep, _ := load(t, `{"responderUsername":7,"sessionId":"s1","requests":[`+
		`{"requestId":"a/..\u0000","message":"plain","response":[1,{"kind":5},{"kind":"new","x":1}],"timestamp":1e300},`+
		`{"requestId":"b","message":{"text":"\ud800"},"result":{"metadata":{"toolCallRounds":[3,{"toolCalls":[3,{"id":"c","arguments":"{"}]}],"toolCallResults":{"c":{"content":[{"value":{"node":`+deep+`}}]}}}}},`+
		`[1],{"requestId":"b"}]}`)
	if rep.Damaged != 1 || rep.Sessions != 1 {
		t.Errorf("Import = %+v, want one session and the list as damaged", rep)
	}
	for e, err := range s.Events(context.Background(), "s1", 0) {
		if err != nil || !json.Valid(e.Payload) {
			t.Errorf("event %d: payload %.100s is no JSON (%v)", e.Seq, e.Payload, err)
		}
	}
}

func TestALogThatIsWrittenAnewSaysNothingAgain(t *testing.T) {
	const (
		asked = `{"requestId":"q1","message":{"text":"ask"},"response":[],"timestamp":1}`
		told  = `{"requestId":"q1","message":{"text":"ask"},"response":[{"value":"say more"}],"timestamp":1}`
		next  = `{"requestId":"q2","message":{"text":"and?"},"response":[],"timestamp":2}`
	)
	long := `{"kind":0,"v":{"responderUsername":"c","sessionId":"s1","requests":[]}}` + "\n" + `{"kind":2,"k":["requests"],"v":[` + asked + "]}\n" +
		`{"kind":2,"k":["requests",0,"response"],"v":[{"value":"say"}]}` + "\n" + `{"kind":2,"k":["requests",0,"response"],"v":[{"value":" more"}]}` + "\n"
	s, _, _ := load(t, "{}")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{long, `{"kind":0,"v":{"responderUsername":"c","sessionId":"s1","requests":[` + told + "," + next + "]}}\n"} {
		at := filepath.Join(dir, "chatSessions", "s1.jsonl")
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(at, time.Unix(int64(i), 0), time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := importer.Import(context.Background(), s, []interop.Format{Format()}, []string{dir}, interop.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	var evs []skein.Event
	for e, err := range s.Events(context.Background(), "s1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		evs = append(evs, e)
	}
	view, err := window.Context(evs, window.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range view.Messages {
		all = append(all, string(m.Role)+": "+m.Words())
	}
	if got, want := strings.Join(all, "; "), "user: ask; assistant: say more; user: and?"; got != want {
		t.Errorf("a model is shown %q, want %q", got, want)
	}
}

// counted is the part of a real document that is needed for counting.
type counted struct {
	Requests []struct {
		Message struct{ Text string }
		Result  struct {
			Metadata struct {
				ToolCallRounds []struct {
					Response  string
					ToolCalls []struct{ ID string }
				}
			}
		}
	}
}

func TestCorpusSessionsAreReadWholeOnceAndGivenBack(t *testing.T) {
	root := os.Getenv("SKEIN_CORPUS")
	if root == "" {
		t.Skip("SKEIN_CORPUS is not set: no real sessions to read")
	}
	files, err := filepath.Glob(filepath.Join(root, "copilot-vscode", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skipf("%s has no folder copilot-vscode: no real sessions to read", root)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want counted
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		s, rep, at := load(t, string(data))
		if rep.Damaged != 0 || rep.Sessions != 1 {
			t.Errorf("Import(%s) = %+v, want one session and no damage", file, rep)
		}
		var words strings.Builder
		calls, answers := 0, 0
		for e, err := range s.Events(context.Background(), "s1", 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != skein.KindSaid {
				continue
			}
			m, err := skein.Decode[skein.Message](e)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range m.Parts {
				words.WriteString(string(p.Text) + "\n")
				if p.Call != nil {
					calls++
				}
				if p.Result != nil && p.Result.Text != "" {
					answers++
				}
			}
		}
		for _, r := range want.Requests {
			if !strings.Contains(words.String(), r.Message.Text) {
				t.Errorf("%s: what was said has not %.80q", file, r.Message.Text)
			}
			for _, round := range r.Result.Metadata.ToolCallRounds {
				if !strings.Contains(words.String(), round.Response) {
					t.Errorf("%s: what was said has not %.80q", file, round.Response)
				}
				calls -= len(round.ToolCalls)
				answers -= len(round.ToolCalls)
			}
		}
		if calls != 0 || answers != 0 {
			t.Errorf("%s: there are %+d calls and %+d answers more than in the file", file, calls, answers)
		}
		var back []byte
		for r, err := range s.Records(context.Background(), Name, at, 0) {
			if err != nil {
				t.Fatal(err)
			}
			piece, err := interop.Piece(r.Raw)
			if err != nil {
				t.Fatal(err)
			}
			back = append(back, piece...)
		}
		if !bytes.Equal(back, data) {
			t.Errorf("the records of %s are %d bytes that differ from the file's %d", file, len(back), len(data))
		}
	}
}
