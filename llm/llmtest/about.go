package llmtest

import (
	"encoding/json"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

func usage(c *check) {
	reply := Says("Counted.")
	reply.Usage = skein.Usage{Input: 100, CacheRead: 5000, Output: 50, Reasoning: 20}
	want := reply.Usage
	want.Requests = 1
	m := c.answer(c.ask(reply), hello())
	if diff := cmp.Diff(&want, m.Usage); diff != "" || m.Tier != "" {
		c.Errorf("Stream() counts, in tier %q (-want +got):\n%s", m.Tier, diff)
	}
	reply.Tier = "priority"
	if m := c.answer(c.ask(reply), hello()); m.Tier != "priority" {
		c.Errorf("Stream() of a priority answer has tier %q", m.Tier)
	}
}

func names(c *check) {
	p := c.ask(Says("Hello."))
	m := c.answer(p, hello())
	about := p.About()
	if m.Provider != about.Provider || about.Provider == "" || m.Model != about.Model || m.Request != "req_0001" || m.Stop == "" {
		c.Errorf("Stream() of %v has provider %q, model %q, request %q, stop %q", about, m.Provider, m.Model, m.Request, m.Stop)
	}
	if p := c.open(llm.Options{Key: Key, BaseURL: c.server.URL, Model: c.suite.Model, Name: "mine"}); !c.suite.NoKey && (p.About().Provider != "mine" || p.About().Rules.Provider != "mine") {
		c.Errorf("About() of a provider named mine = %+v", p.About())
	}
	reply := Says("Hello.")
	reply.Model = c.suite.Model + "-20260102"
	if m := c.answer(c.ask(reply), hello()); m.Model != about.Model {
		c.Errorf("Stream() answered by %q has model %q, want %q as it was asked for", reply.Model, m.Model, about.Model)
	}
	reply.Model = "another-model"
	if m := c.answer(c.ask(reply), hello()); m.Model != reply.Model {
		c.Errorf("Stream() answered by %q has model %q", reply.Model, m.Model)
	}
}

func limit(c *check) {
	reply := Calls(
		skein.Call{ID: "call_1", Name: "list_files", Input: json.RawMessage(`{}`)},
		skein.Call{ID: "call_2", Name: "read_file", Input: json.RawMessage(`{"path": "a/b`)},
	)
	reply.Stop = c.suite.Cut
	m := c.answer(c.ask(reply), hello())
	if got := callsOf(&m); m.Stop != c.suite.Cut || len(got) != 1 || got[0].ID != "call_1" {
		c.Errorf("Stream() stopped by %q with the calls %+v, want %q and the first one", m.Stop, got, c.suite.Cut)
	}
}

func bare(c *check) {
	reply := Says("Hello.")
	reply.Bare = true
	m := c.answer(c.ask(reply), hello())
	if m.Words() != "Hello." || m.Request != "" || m.Usage != nil {
		c.Errorf("Stream() = %q, request %q, usage %+v, want the text alone", m.Words(), m.Request, m.Usage)
	}
	m = c.answer(c.ask(Reply{}), hello())
	if len(m.Parts) != 0 || m.Stop == "" {
		c.Errorf("Stream(an empty answer) = %+v, want no parts", m)
	}
}
