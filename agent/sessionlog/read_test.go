package sessionlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
)

// short formats an entry in a few words.
func short(e sessionlog.Entry) string {
	switch {
	case e.Damage != "":
		return fmt.Sprintf("%d damaged torn=%v", e.Line, e.Torn)
	case e.Kind == sessionlog.Step:
		return fmt.Sprintf("%d %s %s %s %s %s%s", e.Line, e.Step, e.Agent, e.To, e.Tool, e.Input, e.Text)
	case e.Kind == "":
		return fmt.Sprintf("%d %s", e.Line, e.Event)
	}
	return fmt.Sprintf("%d %s %s %s", e.Line, e.Kind, e.Text, e.Model)
}

func read(t *testing.T, log string) (all []string) {
	t.Helper()
	for e, err := range sessionlog.Read(strings.NewReader(log)) {
		if err != nil {
			t.Fatalf("Read(%.80q) = %v", log, err)
		}
		all = append(all, short(e))
	}
	return all
}

const strangers = `{"kind":"user_message","userInput":"water the ferns?","timestamp":"2026-06-01T07:00:00.000Z"}
{"kind":"step","stepResult":{"type":"agent_start","agentName":"gardener"},"timestamp":"2026-06-01T07:00:01.000Z"}
{"kind":"step","stepResult":{"type":"agent_tool_start","agentName":"gardener","toolName":"tap","toolArgumentsStr":"{\"litres\":2}"},"timestamp":"2026-06-01T07:00:01.000Z"}
{"kind":"step","stepResult":{"type":"agent_tool_end","agentName":"gardener","toolName":"tap","result":"wet"},"timestamp":"2026-06-01T07:00:02.000Z"}
{"kind":"step","stepResult":{"type":"handoff","agentName":"gardener","toAgentName":"clerk"},"timestamp":"2026-06-01T07:00:02.000Z"}
{"kind":"final_result","finalResult":{"text":"Watered.","jobIds":["j1"]},"timestamp":"2026-06-01T07:00:03.000Z","model":"acme/fern-1"}
{"kind":"user_message","userInput":[{"type":"message","role":"user","content":[{"type":"input_text","text":"and the moss"},{"type":"input_text","text":"please"}]}],"timestamp":"2026-06-01T07:01:00.000Z"}
`

const amplified = `{"ts": "2026-06-01T07:00:00.119+00:00", "lvl": "INFO", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event": "session:start", "session_id": "a1", "data": {"parent_id": null}}
{"ts": "2026-06-01T07:00:00.121+00:00", "lvl": "INFO", "event": "prompt:submit", "session_id": "a1", "data": {"prompt": "Why is it wet?"}}
{"ts": "2026-06-01T07:00:00.122+00:00", "lvl": "INFO", "event": "tool:pre", "session_id": "a1", "data": {"tool_name": "look", "tool_call_id": "t1", "tool_input": {"at": "sky"}}}
{"ts": "2026-06-01T07:00:00.123+00:00", "lvl": "INFO", "event": "prompt:complete", "session_id": "a1", "data": {"response_preview": "It rains.", "length": 9}}
`

func TestReadTakesTheLogsOfOthers(t *testing.T) {
	want := []string{
		"1 user_message water the ferns? ", "2 agent_start gardener   ", `3 agent_tool_start gardener  tap {"litres":2}`,
		"4 agent_tool_end gardener  tap wet", "5 handoff gardener clerk  ", "6 final_result Watered. acme/fern-1",
		"7 user_message and the moss\n\nplease ",
	}
	if got := read(t, strangers); !slices.Equal(got, want) {
		t.Errorf("Read yields\n%q\nwant\n%q", got, want)
	}
	want = []string{"1 session:start", "2 user_message Why is it wet? ", `3 agent_tool_start   look {"at": "sky"}`, "4 final_result It rains. "}
	if got := read(t, amplified); !slices.Equal(got, want) {
		t.Errorf("Read yields\n%q\nwant\n%q", got, want)
	}
}

func TestReadCountsWhatItCannotRead(t *testing.T) {
	user := strings.SplitAfter(strangers, "\n")[0]
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"no JSON":    {"what?\n" + user, []string{"1 damaged torn=false", "2 user_message water the ferns? "}},
		"no kind":    {`{"a":1}` + "\n", []string{"1 damaged torn=false"}},
		"wrong kind": {`{"kind":7}` + "\n", []string{"1 damaged torn=false"}},
		"torn":       {user + user[:40], []string{"1 user_message water the ferns? ", "2 damaged torn=true"}},
		"NULs":       {"\x00\x00\x00", []string{"1 damaged torn=false"}},
		"CR LF":      {strings.ReplaceAll(user, "\n", "\r\n"), []string{"1 user_message water the ferns? "}},
		"blank":      {"\n\n" + user, []string{"3 user_message water the ferns? "}},
	} {
		if got := read(t, c.log); !slices.Equal(got, c.want) {
			t.Errorf("%s: Read yields %q, want %q", name, got, c.want)
		}
	}
}

func TestTurnsEndWithTheirResultOrTheNext(t *testing.T) {
	whole, err := os.ReadFile("testdata/thread.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text := `{"kind":"step","stepResult":{"type":"text","text":"half"},"timestamp":""}` + "\n"
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"ours":       {string(whole), []string{"list the files | 6 | Two files. | true 0", "thanks | 3 | You are welcome. | true 0"}},
		"another's":  {strangers, []string{"water the ferns? | 4 | Watered. | true 0", "and the moss\n\nplease | 0 |  | false 0"}},
		"broken off": {strangers + "damage\n" + text + strangers[:60] + "\n" + strangers, []string{"water the ferns? | 4 | Watered. | true 0", "and the moss\n\nplease | 1 | half | false 2", "water the ferns? | 4 | Watered. | true 0", "and the moss\n\nplease | 0 |  | false 0"}},
		"no turn":    {text, nil},
	} {
		var got []string
		for turn, err := range sessionlog.Turns(strings.NewReader(c.log)) {
			if err != nil {
				t.Fatalf("%s: Turns = %v", name, err)
			}
			got = append(got, fmt.Sprintf("%s | %d | %s | %v %d", turn.User.Text, len(turn.Steps), turn.Final.Text, turn.Whole, turn.Damaged))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: Turns yields\n%q\nwant\n%q", name, got, c.want)
		}
	}
}

// A follower that sees a log cut at any byte, even in the middle of a
// character, sees each line once and whole when the rest comes.
func TestFollowNeverCutsALine(t *testing.T) {
	p := newPlace(t)
	p.add("s1", thread()[:1]...)
	p.add("s1", skein.Say(noon, skein.UserSays("Grüße aus 東京 🌿")))
	if err := sessionlog.New(p.dir, p.store).Mend(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	whole := p.read("s1")
	path := filepath.Join(t.TempDir(), "log.jsonl")
	for n := range len(whole) {
		if err := os.WriteFile(path, []byte(whole[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		follow := sessionlog.NewTail(path)
		var got []string
		take := func() {
			for e, err := range follow.Entries() {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, short(e))
			}
		}
		take()
		if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		take()
		if want := read(t, whole); !slices.Equal(got, want) {
			t.Fatalf("a log that was cut at %d is followed as\n%q\nwant\n%q", n, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	whole, err := os.ReadFile("testdata/thread.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(strangers))
	f.Add([]byte(amplified))
	f.Fuzz(func(t *testing.T, log []byte) {
		users, damaged := 0, 0
		for e, err := range sessionlog.Read(bytes.NewReader(log)) {
			switch {
			case err != nil:
				t.Fatalf("Read = %v", err)
			case e.Damage != "":
				damaged++
			case e.Kind == sessionlog.User:
				users++
			}
		}
		turns, counted := 0, 0
		for turn, err := range sessionlog.Turns(bytes.NewReader(log)) {
			if err != nil {
				t.Fatalf("Turns = %v", err)
			}
			turns, counted = turns+1, counted+turn.Damaged
		}
		if turns != users || counted > damaged {
			t.Errorf("Turns yields %d turns with %d damaged lines; Read %d user messages, %d damaged", turns, counted, users, damaged)
		}
	})
}
