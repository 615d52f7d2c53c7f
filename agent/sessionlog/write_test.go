package sessionlog_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/store/memory"
)

var update = flag.Bool("update", false, "write the golden files")

var noon = skein.At(time.Date(2026, 11, 21, 12, 0, 0, 123e6, time.UTC))

// thread returns the events of a session of two turns, the first with a tool.
func thread() []skein.Event {
	answer := func(parts ...skein.Part) skein.Event {
		return skein.Say(noon, skein.Message{Role: skein.RoleAssistant, Provider: "echo", Model: "echo-1", Parts: parts})
	}
	call := skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: "c1", Name: "shell", Input: []byte(`{"command":"ls <x>"}`)}}
	result := skein.Part{Kind: skein.PartResult, Result: &skein.Result{CallID: "c1", Text: "a.go\nb.go"}}
	return []skein.Event{
		skein.NewEvent(skein.KindCreated, noon, skein.Created{User: "john@example.com", Agent: "coder", Program: "skein"}),
		skein.Say(noon, skein.UserSays("list the files")),
		skein.NewEvent(skein.KindStep, noon, skein.Step{Phase: "start", Provider: "echo", Model: "echo-1", Attempt: 1}),
		answer(skein.TextPart("I look."), call),
		skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: "c1", State: skein.Running, Title: "ls", Start: noon}),
		skein.NewEvent(skein.KindTool, noon, skein.ToolState{Call: "c1", State: skein.Completed, Start: noon, End: noon + 7}),
		skein.Say(noon, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{result}}),
		answer(skein.TextPart("Two files.")),
		skein.Say(noon, skein.UserSays("thanks")),
		answer(skein.TextPart("You are welcome.")),
		skein.NewEvent(skein.KindEnded, noon, skein.Program{Program: "skein chat", How: "done"}),
	}
}

// A place is a store and a folder for logs.
type place struct {
	t     *testing.T
	store *memory.Store
	dir   string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	s := memory.New()
	t.Cleanup(func() { _ = s.Close() })
	return &place{t, s, filepath.Join(t.TempDir(), "state", "log")}
}

// add appends events to the store and returns them with their seqs.
func (p *place) add(id skein.SessionID, events ...skein.Event) []skein.Event {
	p.t.Helper()
	r, err := p.store.Append(p.t.Context(), skein.Batch{Session: id, Events: events})
	if err != nil {
		p.t.Fatal(err)
	}
	for i, seq := range r[0].Seqs {
		events[i].Seq = seq
	}
	return events
}

func (p *place) file(id skein.SessionID) string {
	p.t.Helper()
	s, err := p.store.Session(context.Background(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	path, err := sessionlog.Path(p.dir, s.User, id)
	if err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p *place) read(id skein.SessionID) string {
	p.t.Helper()
	b, err := os.ReadFile(p.file(id))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

func TestTheLogIsWhatTheEventsMake(t *testing.T) {
	p := newPlace(t)
	l := sessionlog.New(p.dir, p.store)
	for _, e := range thread() {
		if err := l.Append(t.Context(), "s1", p.add("s1", e)...); err != nil {
			t.Fatal(err)
		}
	}
	got := p.read("s1")
	if *update {
		if err := os.WriteFile("testdata/thread.jsonl", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/thread.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the log is\n%s\nwant\n%s", got, want)
	}
	if path := p.file("s1"); !strings.HasSuffix(filepath.ToSlash(path), "state/log/john_example_com/s1.jsonl") {
		t.Errorf("the log is at %s, want state/log/john_example_com/s1.jsonl", path)
	}
}

// A log that a crash cut at any byte is repaired when its session is next
// opened.
func TestALogCutAnywhereIsMended(t *testing.T) {
	p := newPlace(t)
	p.add("s1", thread()...)
	if err := sessionlog.New(p.dir, p.store).Mend(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	whole := p.read("s1")
	lastTurn := strings.LastIndex(whole, "prompt:submit")
	for n := range len(whole) {
		if n < lastTurn-200 && n%7 > 0 { // there, it is rewritten wherever it was cut
			continue
		}
		rest := []string{"", "\x00\x00\x00", `{"torn":`}[n%3]
		if err := os.WriteFile(p.file("s1"), []byte(whole[:n]+rest), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := sessionlog.New(p.dir, p.store).Mend(t.Context(), "s1"); err != nil {
			t.Fatalf("Mend of a log cut at %d = %v", n, err)
		}
		if got := p.read("s1"); got != whole {
			t.Fatalf("a log cut at %d with %q behind is mended to\n%s\nwant\n%s", n, rest, got, whole)
		}
	}
	if err := os.Remove(p.file("s1")); err != nil {
		t.Fatal(err)
	}
	if err := sessionlog.New(p.dir, p.store).Mend(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if got := p.read("s1"); got != whole {
		t.Errorf("a lost log is mended to\n%s\nwant\n%s", got, whole)
	}
}

// Mend adds to a log: existing lines are not rewritten.
func TestMendingKeepsTheFile(t *testing.T) {
	p := newPlace(t)
	p.add("s1", thread()...)
	l := sessionlog.New(p.dir, p.store)
	if err := l.Mend(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(p.file("s1"))
	if err != nil {
		t.Fatal(err)
	}
	p.add("s1", skein.Say(noon, skein.UserSays("more")))
	if err := sessionlog.New(p.dir, p.store).Mend(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(p.file("s1"))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || after.Size() <= before.Size() {
		t.Errorf("mending a log that is behind: the same file %v, %d bytes after %d; want the same, longer", os.SameFile(before, after), after.Size(), before.Size())
	}
}

// Events that others append, and their changes to the file, are in the log in
// order after the next append.
func TestOthersEventsComeInOrder(t *testing.T) {
	for name, do := range map[string]func(p *place){
		"an event of another": func(p *place) {
			p.add("s1", skein.NewEvent(skein.KindTitled, noon, skein.Titled{Title: "Files", By: skein.ByPerson}))
		},
		"a lost file":    func(p *place) { _ = os.Remove(p.file("s1")) },
		"an emptied one": func(p *place) { _ = os.Truncate(p.file("s1"), 0) },
		"a replaced one": func(p *place) { _ = os.WriteFile(p.file("s1"), []byte("other\n"), 0o600) },
		"another writer": func(p *place) {
			e := p.add("s1", skein.Say(noon, skein.UserSays("and")))
			if err := sessionlog.New(p.dir, p.store).Append(context.Background(), "s1", e...); err != nil {
				p.t.Error(err)
			}
		},
		"a cleared one": func(p *place) { p.add("s1", sessionlog.ClearedEvent(noon)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			l := sessionlog.New(p.dir, p.store)
			if err := l.Append(t.Context(), "s1", p.add("s1", thread()...)...); err != nil {
				t.Fatal(err)
			}
			do(p)
			if err := l.Append(t.Context(), "s1", p.add("s1", skein.Say(noon, skein.UserSays("go on")))...); err != nil {
				t.Fatal(err)
			}
			got := p.read("s1")
			if want := p.whole("s1"); got != want {
				t.Errorf("the log is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// whole returns the expected log of a session, computed independently.
func (p *place) whole(id skein.SessionID) string {
	p.t.Helper()
	var b bytes.Buffer
	lines := sessionlog.NewLines(id, 0)
	for e, err := range p.store.Events(p.t.Context(), id, 0) {
		if err != nil {
			p.t.Fatal(err)
		}
		if strings.Contains(string(e.Payload), sessionlog.Cleared) {
			b.Reset()
		}
		b.Write(lines.Append(nil, e))
	}
	return b.String()
}
