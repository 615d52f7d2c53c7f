package codex

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop"
)

func count(last, total string) string {
	return eventMsg(`{"type":"token_count","info":{"total_token_usage":` + total + `,"last_token_usage":` + last + `}}`)
}

func tok(in, cached, out, thought int) string {
	return fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d,"reasoning_output_tokens":%d,"total_tokens":%d}`, in, cached, out, thought, in+out)
}

// used returns the usage of everything that was made, each request once.
func used(t *testing.T, all []interop.Made) (sum skein.Usage) {
	t.Helper()
	paid := map[string]bool{}
	for _, m := range all {
		for _, it := range m.Items {
			f, err := skein.FactsOf(it.Event)
			if err != nil {
				t.Fatal(err)
			}
			if f.Charge != nil && !paid[f.Charge.Request] {
				paid[f.Charge.Request] = true
				sum = sum.Plus(f.Charge.Usage)
			}
		}
	}
	return sum
}

func TestTokensCountOnlyWhereTheTotalIsNew(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  skein.Usage
	}{
		"once": {
			[]string{count(tok(100, 80, 10, 4), tok(100, 80, 10, 4))},
			skein.Usage{Input: 20, CacheRead: 80, Output: 10, Reasoning: 4, Requests: 1},
		},
		"again and again": {
			[]string{count(tok(100, 80, 10, 4), tok(100, 80, 10, 4)), count(tok(100, 80, 10, 4), tok(100, 80, 10, 4)), eventMsg(`{"type":"token_count","info":null}`), count(tok(100, 80, 10, 4), tok(100, 80, 10, 4))},
			skein.Usage{Input: 20, CacheRead: 80, Output: 10, Reasoning: 4, Requests: 1},
		},
		"two requests alike": {
			[]string{count(tok(100, 0, 10, 0), tok(100, 0, 10, 0)), count(tok(100, 0, 10, 0), tok(200, 0, 20, 0))},
			skein.Usage{Input: 200, Output: 20, Requests: 2},
		},
		"without the last": {
			[]string{count("null", tok(100, 0, 10, 0)), count("null", tok(250, 50, 30, 5))},
			skein.Usage{Input: 200, CacheRead: 50, Output: 30, Reasoning: 5, Requests: 2},
		},
		"total starts again": {
			[]string{count("null", tok(100, 0, 10, 0)), count("null", tok(50, 0, 5, 0))},
			skein.Usage{Input: 150, Output: 15, Requests: 2},
		},
		"without a total": {[]string{count(tok(100, 0, 10, 0), "null")}, skein.Usage{Input: 100, Output: 10, Requests: 1}},
		"more cached than read": {
			[]string{count(tok(10, 80, 10, 0), tok(10, 80, 10, 0))},
			skein.Usage{CacheRead: 80, Output: 10, Requests: 1},
		},
		"cache written": {
			[]string{count(`{"input_tokens":100,"cached_input_tokens":30,"cache_write_input_tokens":20,"output_tokens":1,"total_tokens":101}`, tok(100, 30, 1, 0))},
			skein.Usage{Input: 50, CacheRead: 30, CacheWrite: 20, Output: 1, Requests: 1},
		},
	} {
		if got := used(t, readAll(t, testName, strings.Join(c.lines, "\n"))); got != c.want {
			t.Errorf("%s: usage is %+v, want %+v", name, got, c.want)
		}
	}
}

func TestToolEventsSayHowTheCallWent(t *testing.T) {
	for payload, want := range map[string]skein.CallState{
		`{"type":"exec_command_end","call_id":"c","exit_code":0,"status":"completed"}`:                                skein.Completed,
		`{"type":"exec_command_end","call_id":"c","exit_code":1,"status":"completed"}`:                                skein.Failed,
		`{"type":"exec_command_end","call_id":"c","exit_code":-1,"status":"declined"}`:                                skein.Failed,
		`{"type":"patch_apply_end","call_id":"c","success":true}`:                                                     skein.Completed,
		`{"type":"patch_apply_end","call_id":"c","success":false}`:                                                    skein.Failed,
		`{"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s","tool":"t"},"result":{"Ok":{}}}`:        skein.Completed,
		`{"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s","tool":"t"},"result":{"Err":"no"}}`:     skein.Failed,
		`{"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s"},"result":{"Ok":{"isError":true}}}`:     skein.Failed,
		`{"type":"collab_agent_spawn_end","call_id":"c","new_thread_id":"t1","status":{"errored":"x"}}`:               skein.Completed,
		`{"type":"sub_agent_activity","event_id":"c","agent_thread_id":"t1","agent_path":"/root/a","kind":"started"}`: skein.Completed,
	} {
		if s := decode[skein.ToolState](t, one(t, eventMsg(payload)), skein.KindTool); s.State != want || s.Call != "c" {
			t.Errorf("%s says call %q is %q, want c and %q", payload, s.Call, s.State, want)
		}
	}
}

func TestToolEventsLeaveTheOutputToTheResult(t *testing.T) {
	m := one(t, eventMsg(`{"type":"exec_command_end","call_id":"c","stdout":"SECOND","stderr":"SECOND","aggregated_output":"SECOND","formatted_output":"SECOND","exit_code":0,"duration":{"secs":1,"nanos":2}}`))
	s := decode[skein.ToolState](t, m, skein.KindTool)
	if want := `{"exit_code":0,"duration":{"secs":1,"nanos":2}}`; string(s.Meta) != want {
		t.Errorf("meta is %s, want %s", s.Meta, want)
	}
}

func TestAChildIsNamedByTheCallThatStartedIt(t *testing.T) {
	for _, payload := range []string{
		`{"type":"collab_agent_spawn_end","call_id":"c","new_thread_id":"t1"}`,
		`{"type":"sub_agent_activity","event_id":"c","agent_thread_id":"t1","kind":"started"}`,
	} {
		if s := decode[skein.ToolState](t, one(t, eventMsg(payload)), skein.KindTool); s.Child != "t1" {
			t.Errorf("%s names the child %q, want t1", payload, s.Child)
		}
	}
}

func TestErrorsTellKindAndStatus(t *testing.T) {
	for info, want := range map[string]skein.ErrorInfo{
		`null`:                               {Message: "m"},
		`"usage_limit_exceeded"`:             {Message: "m", Kind: "usage_limit_exceeded"},
		`{"lost":{"http_status_code":503}}`:  {Message: "m", Kind: "lost", Status: 503},
		`{"lost":{"http_status_code":null}}`: {Message: "m", Kind: "lost"},
		`[1]`:                                {Message: "m"},
	} {
		s := decode[skein.Step](t, one(t, eventMsg(`{"type":"error","message":"m","codex_error_info":`+info+`}`)), skein.KindStep)
		if s.Error == nil || *s.Error != want {
			t.Errorf("error with the info %s becomes %+v, want %+v", info, s.Error, want)
		}
	}
}

func TestOnlyTheThreadsOwnNameIsATitle(t *testing.T) {
	own := one(t, eventMsg(`{"type":"thread_name_updated","thread_id":"019de000-0000-7000-8000-00000000000a","thread_name":"Pears"}`))
	if got := decode[skein.Titled](t, own, skein.KindTitled); got.Title != "Pears" || !own.Floating {
		t.Errorf("own name becomes %+v, floating %t, want Pears, true", got, own.Floating)
	}
	other := one(t, eventMsg(`{"type":"thread_name_updated","thread_id":"t9","thread_name":"Plums"}`))
	decode[skein.Noted](t, other, skein.KindNoted)
}

func TestARollbackGoesBackToBeforeThePrompts(t *testing.T) {
	prompt := func(s string) string { return response(`{"type":"message","role":"user","content":"` + s + `"}`) }
	answer := response(`{"type":"message","role":"assistant","content":"x"}`)
	back := func(n int) string { return eventMsg(fmt.Sprintf(`{"type":"thread_rolled_back","num_turns":%d}`, n)) }
	for name, c := range map[string]struct {
		lines []string
		to    int
	}{
		"one":           {[]string{prompt("a"), answer, prompt("b"), answer, back(1)}, 2},
		"two":           {[]string{prompt("a"), answer, prompt("b"), answer, back(2)}, 0},
		"too many":      {[]string{answer, prompt("a"), answer, back(9)}, 1},
		"one after one": {[]string{prompt("a"), answer, prompt("b"), back(1), prompt("c"), back(1)}, 4},
		"one and more":  {[]string{prompt("a"), answer, prompt("b"), back(1), prompt("c"), back(2)}, 0},
	} {
		m := one(t, c.lines...)
		if len(m.Items) != 1 || m.Items[0].Event.Kind != skein.KindRewound || m.Items[0].To != c.to {
			t.Errorf("%s: makes %s, want rewound to %d", name, dump([]interop.Made{m}), c.to)
		}
	}
	decode[skein.Noted](t, one(t, back(1)), skein.KindNoted)
}

func TestCompactionCoversWhatCameBefore(t *testing.T) {
	m := one(t, response(`{"type":"message","role":"user","content":"a"}`), wrap("compacted", `{"message":"short","replacement_history":[{"type":"message","role":"user","content":"a"}]}`))
	c := decode[skein.Compacted](t, m, skein.KindCompacted)
	if c.Summary != "short" || !json.Valid(c.Opaque) || m.Items[0].To != 1 {
		t.Errorf("compacted is %+v to %d, want the summary short, the history and 1", c, m.Items[0].To)
	}
}

func TestPicturesStandOnce(t *testing.T) {
	big := strings.Repeat("A", 8000)
	n := decode[skein.Noted](t, one(t, eventMsg(`{"type":"user_message","message":"look","images":["data:image/png;base64,`+big+`"]}`)), skein.KindNoted)
	if want := `{"type":"user_message","message":"look"}`; string(n.Data) != want {
		t.Errorf("note has %.80s, want %s", n.Data, want)
	}
	m := one(t, response(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,`+big+`"}]}`))
	if msg := decode[skein.Message](t, m, skein.KindSaid); msg.Parts[0].File.Size != 6000 || len(m.Items[0].Blobs) != 1 {
		t.Errorf("picture becomes %+v with %d blobs, want 6000 bytes in 1", msg.Parts[0].File, len(m.Items[0].Blobs))
	}
}
