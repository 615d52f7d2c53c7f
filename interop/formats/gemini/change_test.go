package gemini

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
	"github.com/skein-dev/skein/interop/importer"
	"github.com/skein-dev/skein/llm/window"
	"github.com/skein-dev/skein/store/memory"
)

// A place is a home with session files, and a store that they are imported to.
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
	return &place{t, dir, s, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
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

func (p *place) load(fs ...interop.Format) interop.Report {
	p.Helper()
	if fs == nil {
		fs = []interop.Format{Format(), Qwen()}
	}
	rep, err := importer.Import(context.Background(), p.store, fs, []string{p.dir}, interop.Options{})
	if err != nil {
		p.Fatal(err)
	}
	return rep
}

func (p *place) events(id skein.SessionID) (all []skein.Event) {
	p.Helper()
	for e, err := range p.store.Events(context.Background(), id, 0) {
		if err != nil {
			p.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// shown returns what a model is shown of a session, as role: words.
func (p *place) shown(id skein.SessionID) string {
	p.Helper()
	view, err := window.Context(p.events(id), window.Rules{})
	if err != nil {
		p.Fatal(err)
	}
	var all []string
	for _, m := range view.Messages {
		for _, part := range m.Parts {
			text := string(part.Text)
			if part.Result != nil {
				text = "-> " + string(part.Result.Text)
			}
			if part.Call != nil {
				text = part.Call.Name
			}
			all = append(all, string(m.Role)+": "+text)
		}
	}
	return strings.Join(all, "\n")
}

func (p *place) session(id skein.SessionID) skein.Session {
	p.Helper()
	s, err := p.store.Session(context.Background(), id)
	if err != nil {
		p.Fatal(err)
	}
	return s
}

const docName = "tmp/pear/chats/session-2026-05-01T00-00-5e550000.json"

// document returns a session as older versions write it.
func doc(messages ...string) string {
	var b strings.Builder
	b.WriteString("{\n  \"sessionId\": \"s1\",\n  \"projectHash\": \"x\",\n  \"startTime\": \"2026-05-01T00:00:00.000Z\",\n  \"messages\": [\n    ")
	b.WriteString(strings.Join(messages, ",\n    "))
	return b.String() + "\n  ]\n}"
}

const (
	asks    = `{"id":"u1","type":"user","content":"ask"}`
	answers = `{"id":"g1","type":"gemini","content":"say","model":"gemini-2.5-pro"}`
	used    = `{"id":"g1","type":"gemini","content":"say more","model":"gemini-2.5-pro","tokens":{"input":10,"output":3,"cached":4,"thoughts":2,"tool":1,"total":16},` +
		`"toolCalls":[{"id":"c1","name":"ls","args":{},"status":"success","result":[{"functionResponse":{"id":"c1","name":"ls","response":{"output":"a.go"}}}]}]}`
)

func TestADocumentThatIsWrittenAnewIsAmended(t *testing.T) {
	p := newPlace(t)
	p.write(docName, doc(asks, answers))
	p.load()
	p.write(docName, doc(asks, used))
	p.load()
	if got, want := p.shown("s1"), "user: ask\nassistant: say more\nassistant: ls\ntool: -> a.go"; got != want {
		t.Errorf("after the second message changed a model is shown\n%s\nwant\n%s", got, want)
	}
	if got, want := p.session("s1").Usage, (skein.Usage{Input: 7, Output: 5, Reasoning: 2, CacheRead: 4, Requests: 1}); got != want {
		t.Errorf("usage = %+v, want %+v", got, want)
	}
	p.write(docName, doc(asks))
	p.load()
	if got, want := p.shown("s1"), "user: ask"; got != want {
		t.Errorf("after the second message was removed a model is shown\n%s\nwant\n%s", got, want)
	}
}

func TestATornDocumentGivesWhatItHas(t *testing.T) {
	p := newPlace(t)
	whole := doc(asks, used)
	p.write(docName, whole[:len(whole)-20])
	if rep := p.load(); rep.Damaged != 1 || rep.Messages != 1 {
		t.Errorf("Import of a document that ends in its second message = %+v, want 1 message and 1 damaged record", rep)
	}
	p.write(docName, whole)
	if rep := p.load(); rep.Damaged != 0 || !strings.Contains(p.shown("s1"), "say more") {
		t.Errorf("Import of the whole = %+v and shows\n%s\nwant both messages", rep, p.shown("s1"))
	}
}

func TestAResumedDocumentGoesOnAsLines(t *testing.T) {
	p := newPlace(t)
	p.write(docName, doc(asks, used))
	p.load()
	lines := `{"sessionId":"s1","projectHash":"x","startTime":"2026-05-01T00:00:00.000Z"}` + "\n" + asks + "\n" + used + "\n" + `{"$set":{"sessionId":"s1"}}` + "\n"
	p.write(docName+"l", lines)
	if rep := p.load(); rep.Events != 0 || rep.Copies != 2 {
		t.Errorf("Import of the same as lines = %+v, want 2 copies and no event", rep)
	}
	p.write(docName+"l", lines+`{"id":"u2","type":"user","content":"and?"}`+"\n")
	p.load()
	for s, err := range p.store.Sessions(context.Background(), skein.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.ID != "s1" && (s.Parent == nil || s.Parent.Session != "s1" || s.Parent.Why != skein.Fork || s.Turns != 2) {
			t.Errorf("what went on is %+v, want a fork of s1 with 2 turns", s)
		}
	}
}

func TestARewindToTheFirstMessageEmptiesTheContext(t *testing.T) {
	p := newPlace(t)
	head := `{"sessionId":"s1","projectHash":"x"}` + "\n"
	p.write(docName+"l", head+asks+"\n"+answers+"\n"+`{"$rewindTo":"u1"}`+"\n"+`{"id":"u1","type":"user","content":"other"}`+"\n")
	p.load()
	if got, want := p.shown("s1"), "user: other"; got != want {
		t.Errorf("a model is shown\n%s\nwant\n%s", got, want)
	}
}

func TestACompactionKeepsWhatTheProgramKept(t *testing.T) {
	p := newPlace(t)
	b, err := os.ReadFile("testdata/lines/compacted.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	p.write(docName+"l", strings.Join(lines[:13], ""))
	p.load()
	want := "user: <state_snapshot>We asked three questions.</state_snapshot>\nuser: question 3\nassistant: answer 3\nassistant: read_file\ntool: -> [cut]\nuser: and now\nassistant: now this"
	if got := p.shown("8b2e0000-1111-4222-8333-444455556666"); got != want {
		t.Errorf("a model is shown\n%s\nwant\n%s", got, want)
	}
}

func TestQwensDocumentsAreTheirOwnFormat(t *testing.T) {
	p := newPlace(t)
	p.write(".qwen/tmp/x/chats/session-1.json", strings.ReplaceAll(doc(asks, answers), `"s1"`, `"q1"`))
	p.write("copied/session-2.json", strings.ReplaceAll(doc(strings.Replace(answers, `"type":"gemini"`, `"type":"qwen"`, 1)), `"s1"`, `"q2"`))
	p.write(".gemini/tmp/x/chats/session-3.json", doc(asks, answers))
	p.load()
	for id, want := range map[skein.SessionID]string{"q1": QwenName, "q2": QwenName, "s1": Name} {
		if got := p.session(id).Origin.Format; got != want {
			t.Errorf("session %s is of the format %q, want %q", id, got, want)
		}
	}
}

func TestOtherProgramsDocumentsAreLeftAlone(t *testing.T) {
	p := newPlace(t)
	p.write("session-other.json", `{"name":"x"}`)
	p.write("checkpoint-1.json", `{"step":1}`)
	p.write("log.jsonl", `{"sessionId":"x","type":"user"}`+"\n")
	if rep := p.load(); rep.Files != 0 || rep.Unmatched != 3 {
		t.Errorf("Import = %+v, want 3 files that do not match", rep)
	}
}

// Where only a hash says in which folder a session was, the folders are tried that other
// sessions name.
func TestAHashedFolderIsRecognized(t *testing.T) {
	p := newPlace(t)
	other := skein.Batch{Session: "other", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{Project: "/home/ada/pear", Cwd: "/home/ada/pear/leaf"})}}
	if _, err := p.store.Append(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	bring := func(id, hash, folder string) skein.Session {
		t.Helper()
		p.write("tmp/"+folder+"/chats/session-2026-05-01T00-00-"+id+".jsonl", `{"sessionId":"`+id+`","projectHash":"`+hash+`","startTime":"2026-05-01T00:00:00.000Z"}`+"\n"+asks+"\n")
		if _, err := importer.Import(t.Context(), p.store, []interop.Format{Format()}, []string{p.dir}, interop.Options{Checkout: func(string) skein.Checkout { return skein.Checkout{} }}); err != nil {
			t.Fatal(err)
		}
		return p.session(skein.SessionID(id))
	}
	for _, c := range []struct{ id, hash, folder, want string }{
		{"s1", hashOf("/home/ada/pear"), "pear", "/home/ada/pear"},
		{"s2", "", hashOf("/home/ada/pear/leaf"), "/home/ada/pear/leaf"},
		{"s3", hashOf("/home/ada/plum"), "plum", ""},
	} {
		if s := bring(c.id, c.hash, c.folder); s.Cwd != c.want || s.Project != c.want {
			t.Errorf("session %s: folder %q, project %q, want %q", c.id, s.Cwd, s.Project, c.want)
		}
	}
}
