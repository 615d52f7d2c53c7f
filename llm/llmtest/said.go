package llmtest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/window"
)

func text(c *check) {
	const said = "Grüße, 世界! <b>&amp;</b> \"quoted\"\n\n\ttabbed \u2028 and 🧵"
	p := c.ask(Says(said))
	n := 0
	for d, err := range p.Stream(c.Context(), hello()) {
		if err != nil {
			c.Fatal(err)
		}
		if d.Text != "" {
			n++
		}
		if d.Message != nil {
			if got := d.Message.Words(); got != said {
				c.Errorf("Stream() = %q, want %q", got, said)
			}
		}
	}
	if n < 3 {
		c.Errorf("Stream() gave %d pieces of text, want some", n)
	}
	if m := c.answer(c.ask(Says(said)), hello()); m.Words() != said || m.Usage == nil || m.Usage.Requests != 1 {
		c.Errorf("Stream() = %+v, want %q and the usage of one request", m, said)
	}
}

// input is a call's input, with details that must stay as the model wrote them.
const input = `{"path":"a/<b>&\"c\".go","n":12345678901234567890,"deep":{"z":[1,2.50,null],"a":"é\u0000 ü 🧵"},"e":1e400}`

func calls(c *check) {
	want := []skein.Call{
		{ID: "call_1", Name: "read_file", Input: json.RawMessage(input)},
		{ID: "call_2", Name: "list_files", Input: json.RawMessage(`{}`)},
		{ID: "call_3", Name: "read_file", Input: json.RawMessage(`{"path": "b"}`)},
	}
	reply := Calls(want...)
	reply.Parts = slices.Insert(reply.Parts, 0, skein.TextPart("Let me look."))
	m := c.answer(c.ask(reply), llm.Request{Messages: hello().Messages, Tools: tools()})
	if m.Words() != "Let me look." {
		c.Errorf("Stream() says %q, want %q", m.Words(), "Let me look.")
	}
	if diff := cmp.Diff(want, callsOf(&m)); diff != "" {
		c.Errorf("Stream() calls (-want +got):\n%s", diff)
	}
	m = c.answer(c.ask(Calls(skein.Call{ID: "call_4", Name: "list_files"})), hello())
	if got := callsOf(&m); len(got) != 1 || string(got[0].Input) != "{}" {
		c.Errorf("Stream() calls %+v, want one with the input {}", got)
	}
	m = c.answer(c.ask(Calls(skein.Call{ID: "call_5", Name: "list_files", Input: json.RawMessage(`{"a": <no>}`)})), hello())
	if got := callsOf(&m); len(got) != 1 || string(got[0].Input) != `"{\"a\": <no>}"` {
		c.Errorf("Stream() calls %+v, want what is no JSON as a string", got)
	}
}

func callsOf(m *skein.Message) (all []skein.Call) {
	for _, p := range m.Parts {
		if p.Call != nil {
			all = append(all, *p.Call)
		}
	}
	return all
}

func tools() []llm.ToolSpec {
	return []llm.ToolSpec{
		{Name: "read_file", Doc: "Reads <a file> & shows it.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","maximum":12345678901234567890}},"required":["path"]}`)},
		{Name: "list_files", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
}

// kinds returns the kinds of m's parts, in order.
func kinds(m *skein.Message) string {
	var all []string
	for _, p := range m.Parts {
		all = append(all, string(p.Kind))
	}
	return strings.Join(all, " ")
}

func reasoning(c *check) {
	p := c.askWith(llm.High, Thinks("What is there?\nI should look.", Calls(skein.Call{ID: "call_1", Name: "list_files", Input: json.RawMessage(`{}`)})))
	m := c.answer(p, llm.Request{Messages: hello().Messages, Tools: tools()})
	if r := c.last(); r.Effort == "" {
		c.Errorf("with effort %q the request says nothing of it: %s", llm.High, r.Body)
	}
	if !strings.HasPrefix(kinds(&m), "reasoning ") || !strings.HasSuffix(kinds(&m), " call") || m.Parts[0].Text != "What is there?\nI should look." {
		c.Fatalf("Stream() = %q: %+v, want reasoning and a call", kinds(&m), m.Parts)
	}
	events := []skein.Event{
		skein.Say(0, skein.UserSays("hello")), skein.Say(0, m),
		skein.Say(0, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: "call_1", Text: "a.go"}}}}),
	}
	r := c.context(p, events)
	r.Tools = tools()
	c.ask(Says("There is a.go."))
	c.answer(p, r)
	back := c.last().Messages
	if p.About().Rules.Reasoning != strings.Contains(allKinds(back), "reasoning") {
		c.Errorf("the request after that has %q; the provider's rules say reasoning %t", allKinds(back), p.About().Rules.Reasoning)
	}
}

// apart checks that a thought is separate from the text after it.
func apart(c *check) {
	m := c.answer(c.ask(Thinks("Hm, <so>.", Says("Yes, it is."))), hello())
	if kinds(&m) != "reasoning text" || m.Parts[0].Text != "Hm, <so>." || m.Words() != "Yes, it is." {
		c.Errorf("Stream() = %+v, want a thought and then a text", m.Parts)
	}
}

func allKinds(all []skein.Message) string {
	var s []string
	for i := range all {
		s = append(s, kinds(&all[i]))
	}
	return strings.Join(s, "; ")
}

// context returns a request with the context of events.
func (c *check) context(p llm.Provider, events []skein.Event) llm.Request {
	c.Helper()
	for i := range events {
		events[i].Seq = skein.Seq(i + 1)
	}
	v, err := window.Context(events, p.About().Rules)
	if err != nil {
		c.Fatal(err)
	}
	return llm.Request{Messages: v.Messages, Opaque: v.Opaque}
}
