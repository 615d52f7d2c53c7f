package codex

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop"
)

const testName = "rollout-2026-01-02T03-04-05-019de000-0000-7000-8000-00000000000a.jsonl"

// one returns what the last of these lines makes.
func one(t *testing.T, lines ...string) interop.Made {
	t.Helper()
	all := readAll(t, testName, strings.Join(lines, "\n"))
	return all[len(all)-1]
}

func wrap(typ, payload string) string {
	return `{"timestamp":"2026-01-02T03:04:05.678Z","type":"` + typ + `","payload":` + payload + `}`
}

func response(payload string) string { return wrap("response_item", payload) }
func eventMsg(payload string) string { return wrap("event_msg", payload) }

// decode returns the payload of the only item of kind in m.
func decode[T any](t *testing.T, m interop.Made, kind skein.Kind) T {
	t.Helper()
	for _, it := range m.Items {
		if it.Event.Kind == kind {
			v, err := skein.Decode[T](it.Event)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatalf("the record makes %s, want an event of kind %s", dump([]interop.Made{m}), kind)
	panic("not reached")
}

func TestOutputsOfAllShapesBecomeResults(t *testing.T) {
	for name, c := range map[string]struct {
		output, text string
		failed       bool
		files        int
		raw          bool
	}{
		"a string":                {output: `"ok"`, text: "ok"},
		"null":                    {output: `null`},
		"JSON with exit code 0":   {output: `"{\"output\":\"a\\nb\",\"metadata\":{\"exit_code\":0}}"`, text: "a\nb"},
		"JSON with exit code 3":   {output: `"{\"output\":\"no\",\"metadata\":{\"exit_code\":3}}"`, text: "no", failed: true},
		"JSON of a tool's own":    {output: `"{\"output\":\"x\",\"rows\":2}"`, text: `{"output":"x","rows":2}`},
		"a process that exited":   {output: `"Chunk ID: 1\nProcess exited with code 2\nOutput:\nbad"`, text: "Chunk ID: 1\nProcess exited with code 2\nOutput:\nbad", failed: true},
		"an exit code line":       {output: `"Exit code: 1\nWall time: 0 s\nOutput:\n"`, text: "Exit code: 1\nWall time: 0 s\nOutput:\n", failed: true},
		"exit code far down":      {output: `"` + strings.Repeat("x", 500) + `\nExit code: 1\n"`, text: strings.Repeat("x", 500) + "\nExit code: 1\n"},
		"a list":                  {output: `[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]`, text: "a", files: 1},
		"a list with the unknown": {output: `[{"type":"smell","of":"rose"}]`, raw: true},
		"an object":               {output: `{"content":"no","success":false}`, text: "no", failed: true},
		"an object around a list": {output: `{"content":[{"type":"input_text","text":"a"}],"success":true}`, text: "a"},
		"an unknown object":       {output: `{"who":"knows"}`, raw: true},
		"a number":                {output: `7`, raw: true},
		"an empty picture":        {output: `[{"type":"input_image","image_url":"data:image/png;base64,"}]`, raw: true},
		"broken base64":           {output: `[{"type":"input_image","image_url":"data:image/png;base64,@@"}]`, raw: true},
	} {
		m := one(t, response(`{"type":"function_call_output","call_id":"c1","output":`+c.output+`}`))
		r := decode[skein.Message](t, m, skein.KindSaid).Parts[0].Result
		if string(r.Text) != c.text || r.Failed != c.failed || len(r.Files) != c.files || (r.Raw != nil) != c.raw || r.CallID != "c1" {
			t.Errorf("output that is %s becomes %+v, want text %q, failed %t, %d files, raw %t", name, r, c.text, c.failed, c.files, c.raw)
		}
	}
}

func TestWhatCodexPutInIsSynthetic(t *testing.T) {
	for text, synthetic := range map[string]bool{
		"fix the bug": false,
		"<environment_context>\n</environment_context>":                   true,
		"  # AGENTS.md instructions for /x\n":                             true,
		"<goal_context>\nWin.\n</goal_context>":                           true,
		"<my_tag> what does this element do?":                             false,
		"<div>why is this red?</div>":                                     false,
		"<a_b>x</a_b> or <c_d>y</c_d>":                                    false,
		"<turn_aborted>\nThe user did it.\n</turn_aborted>":               true,
		"# Context from my IDE setup:\n\n## My request for Codex:\nhello": false,
	} {
		m := one(t, response(`{"type":"message","role":"user","content":[{"type":"input_text","text":`+string(skein.AppendQuoted(nil, text))+`}]}`))
		if msg := decode[skein.Message](t, m, skein.KindSaid); msg.Typed() == synthetic {
			t.Errorf("user message %q: typed is %t, want %t", text, msg.Typed(), !synthetic)
		}
	}
}

func TestTypedTextBesideWhatCodexPutInIsTyped(t *testing.T) {
	m := one(t, response(`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context></environment_context>"},{"type":"input_text","text":"hello"}]}`))
	if msg := decode[skein.Message](t, m, skein.KindSaid); !msg.Typed() || msg.Words() != "hello" {
		t.Errorf("message is typed %t with the words %q, want true and %q", msg.Typed(), msg.Words(), "hello")
	}
}

func TestArgumentsThatAreNoJSONStayAString(t *testing.T) {
	deep := strings.Repeat("[", loose.MaxNest+1) + strings.Repeat("]", loose.MaxNest+1)
	for args, want := range map[string]string{
		`"{\"a\":1}"`:      `{"a":1}`,
		`"{a:1}"`:          `"{a:1}"`,
		`""`:               `""`,
		`"[\"\\ud800\"]"`:  `["\ud800"]`,
		`"\ud800"`:         `"\ud800"`,
		`"[\"\ud800\"]"`:   `"[\"\ud800\"]"`,
		`"` + deep + `"`:   `"` + deep + `"`,
		`{"already":true}`: `{"already":true}`,
	} {
		m := one(t, response(`{"type":"function_call","name":"f","call_id":"c","arguments":`+args+`}`))
		if got := string(decode[skein.Message](t, m, skein.KindSaid).Parts[0].Call.Input); got != want {
			t.Errorf("arguments %.80s become the input %.80s, want %.80s", args, got, want)
		}
	}
}

func TestUnknownLinesAreKeptWhole(t *testing.T) {
	for line, name := range map[string]string{
		wrap("novelty", `{"type":"x","n":1.50}`):               "codex:novelty/x",
		wrap("novelty", `[1,2]`):                               "codex:novelty",
		wrap("novelty", `"text"`):                              "codex:novelty",
		eventMsg(`{"type":"brand_new","n":1.50}`):              "codex:event_msg/brand_new",
		response(`{"type":"brand_new","n":1.50}`):              "codex:response_item/brand_new",
		response(`{"no":"type"}`):                              "codex:response_item",
		`{"record_type":"state"}`:                              "codex:state",
		`{"what":"is this"}`:                                   "codex:unknown",
		eventMsg(`{"type":"` + strings.Repeat("é", 99) + `"}`): "codex:event_msg/" + strings.Repeat("é", 42),
	} {
		n := decode[skein.Noted](t, one(t, line), skein.KindNoted)
		if n.Name != name || !strings.Contains(line, string(n.Data)) || len(n.Data) == 0 {
			t.Errorf("line %s becomes the note %q with %s, want %q with the payload as it stands", line, n.Name, n.Data, name)
		}
	}
}

func TestAWrongShapeIsKeptAndNamed(t *testing.T) {
	for _, line := range []string{
		response(`{"type":"message","role":7,"content":[]}`),
		eventMsg(`{"type":"exec_command_end","call_id":[]}`),
		wrap("turn_context", `{"model":{}}`),
		wrap("compacted", `{"message":1}`),
		wrap("turn_context", `[]`),
	} {
		m := one(t, line)
		if n := decode[skein.Noted](t, m, skein.KindNoted); m.Damage == "" || len(n.Data) == 0 {
			t.Errorf("line %s makes the note %+v and the damage %q, want both", line, n, m.Damage)
		}
	}
}

func TestLinesWithoutAPayloadAreDamaged(t *testing.T) {
	for _, line := range []string{`{"type":"response_item"}`, `{"type":"event_msg","timestamp":"x"}`, `[]`, `7`, `"x"`} {
		if m := one(t, line); !strings.HasPrefix(m.Damage, "damaged: ") || len(m.Items) > 0 {
			t.Errorf("line %s has the damage %q and %d items, want some and 0", line, m.Damage, len(m.Items))
		}
	}
}

func TestAWrongTimeLosesNothingButTheTime(t *testing.T) {
	for _, stamp := range []string{`"yesterday"`, `7`, `null`, `{}`} {
		m := one(t, `{"timestamp":`+stamp+`,"type":"response_item","payload":{"type":"message","role":"assistant","content":"x"}}`)
		if len(m.Items) != 1 || m.Items[0].Event.Time != 0 {
			t.Errorf("line with the timestamp %s makes %s, want one event without a time", stamp, dump([]interop.Made{m}))
		}
	}
}

func TestOfANameThatStandsTwiceTheLastOneCounts(t *testing.T) {
	m := one(t, response(`{"type":"message","role":"user","role":"assistant","content":"x","content":"y"}`))
	if msg := decode[skein.Message](t, m, skein.KindSaid); msg.Role != skein.RoleAssistant || msg.Words() != "y" {
		t.Errorf("message is by %s and says %q, want assistant and y", msg.Role, msg.Words())
	}
}
