package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// png returns a file that claims to be an image; nothing here decodes it.
func png() skein.Blob { return skein.NewBlob([]byte("\x89PNG\r\n\x1a\n not really")) }

func results(c *check) {
	p := c.ask(Says("I see."))
	rules := p.About().Rules
	blob := png()
	image := skein.File{Name: "a.png", Media: "image/png", Blob: blob.Hash, Size: int64(len(blob.Data))}
	events := []skein.Event{
		skein.Say(0, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{skein.TextPart("What is this?"), {Kind: skein.PartFile, File: &image}}}),
		skein.Say(0, skein.Message{Role: skein.RoleAssistant, Parts: []skein.Part{
			{Kind: skein.PartCall, Call: &skein.Call{ID: "call_1", Name: "read_file", Input: json.RawMessage(input)}},
			{Kind: skein.PartCall, Call: &skein.Call{ID: "call_2", Name: "list_files", Input: json.RawMessage(`{}`)}},
		}}),
		skein.Say(0, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{
			{Kind: skein.PartResult, Result: &skein.Result{CallID: "call_2", Text: "no <such> folder", Failed: true}},
			{Kind: skein.PartResult, Result: &skein.Result{CallID: "call_1", Text: "seen", Files: []skein.File{image}}},
		}}),
		skein.Say(0, skein.UserSays("And now?")),
	}
	r := c.context(p, events)
	r.Tools = tools()
	r.Blob = func(_ context.Context, h skein.Hash) ([]byte, error) {
		if h != blob.Hash {
			return nil, skein.ErrNotFound
		}
		return blob.Data, nil
	}
	c.answer(p, r)
	got := c.last().Messages
	if f := filesOf(got[0]); len(f) != 1 || f[0].Blob != blob.Hash || f[0].Media != "image/png" {
		c.Errorf("the first message has the files %+v, want the image", f)
	}
	var found []skein.Result
	for _, m := range got {
		for _, k := range callsOf(&m) {
			if k.ID == "call_1" && !same(k.Input, json.RawMessage(input)) {
				c.Errorf("call_1 went back with the input %s, want %s", k.Input, input)
			}
		}
		for _, part := range m.Parts {
			if part.Result != nil {
				found = append(found, *part.Result)
			}
		}
	}
	if len(found) != 2 || found[0].CallID != "call_1" || !strings.HasPrefix(string(found[0].Text), "seen") || found[1].Text != "no <such> folder" {
		c.Fatalf("the results are %+v, want those of call_1 and call_2", found)
	}
	if want := len(rules.ResultMedia) > 0; want != (len(found[0].Files) == 1 && found[0].Files[0].Blob == blob.Hash) {
		c.Errorf("the result of call_1 has the files %+v; the rules let images in: %t", found[0].Files, want)
	}
	if last := got[len(got)-1]; last.Words() != "And now?" {
		c.Errorf("the last message is %+v, want %q", last, "And now?")
	}
}

func filesOf(m skein.Message) (all []skein.File) {
	for _, p := range m.Parts {
		if p.File != nil {
			all = append(all, *p.File)
		}
	}
	return all
}

// same reports whether a and b are the same JSON, with numbers as written and
// members in the same order.
func same(a, b json.RawMessage) bool {
	var x, y strings.Builder
	tell(json.NewDecoder(strings.NewReader(string(a))), &x)
	tell(json.NewDecoder(strings.NewReader(string(b))), &y)
	return x.String() == y.String()
}

// tell writes the tokens of d.
func tell(d *json.Decoder, to *strings.Builder) {
	d.UseNumber()
	for {
		tok, err := d.Token()
		if err != nil {
			return
		}
		b, _ := json.Marshal(tok) // a token always encodes
		to.Write(append(b, ' '))
	}
}

func settings(c *check) {
	const system = "You are <careful> & \"terse\".\nAnswer in German."
	r := hello()
	r.System, r.Tools, r.MaxTokens = system, tools(), 321
	c.answer(c.ask(Says("Ja.")), r)
	got := c.last()
	if got.System != system || got.MaxTokens != 321 || got.Model != c.suite.Model {
		c.Errorf("the request has system %q, limit %d, model %q, want %q, 321, %q", got.System, got.MaxTokens, got.Model, system, c.suite.Model)
	}
	for i, want := range tools() {
		if i >= len(got.Tools) || got.Tools[i].Name != want.Name || got.Tools[i].Doc != want.Doc || !same(got.Tools[i].Schema, want.Schema) {
			c.Errorf("the request has the tools %s, want %s", got.Tools, tools())
		}
	}
	c.answer(c.ask(Says("Ja.")), hello())
	if got := c.last(); got.System != "" || len(got.Tools) != 0 || got.Effort != "" {
		c.Errorf("a plain request has system %q, tools %v, effort %q, want none", got.System, got.Tools, got.Effort)
	}
	if c.suite.Model != "" && c.ask().About().Model != c.suite.Model {
		c.Errorf("About() = %+v, want the model %q", c.ask().About(), c.suite.Model)
	}
}

var errBlob = errors.New("the disk is on fire")

func unsendable(c *check) {
	blob := png()
	r := hello()
	r.Messages[0].Parts = append(r.Messages[0].Parts, skein.Part{Kind: skein.PartFile, File: &skein.File{Name: "a.png", Media: "image/png", Blob: blob.Hash}})
	p := c.ask()
	if _, err := Collect(c.T, p.Stream(c.Context(), r)); !errors.Is(err, llm.ErrRequest) {
		c.Errorf("Stream(a file and no way to its bytes) = %v, want %v", err, llm.ErrRequest)
	}
	r.Blob = func(context.Context, skein.Hash) ([]byte, error) { return nil, errBlob }
	_, err := Collect(c.T, p.Stream(c.Context(), r))
	if _, again := llm.Again(err); !errors.Is(err, errBlob) || again {
		c.Errorf("Stream(a file that cannot be read) = %v, again %t, want %v and not again", err, again, errBlob)
	}
	bad := json.RawMessage(`{"no`)
	for name, with := range map[string]func(r *llm.Request){
		"tool":      func(r *llm.Request) { r.Tools = []llm.ToolSpec{{Name: "look", Schema: bad}} },
		"opaque":    func(r *llm.Request) { r.Opaque = bad },
		"reasoning": func(r *llm.Request) { r.Messages[0].Parts = []skein.Part{{Kind: skein.PartReasoning, Raw: bad}} },
		"call": func(r *llm.Request) {
			r.Messages[0].Parts = []skein.Part{{Kind: skein.PartCall, Call: &skein.Call{Input: bad}}}
		},
	} {
		r := hello()
		with(&r)
		if _, err := Collect(c.T, p.Stream(c.Context(), r)); !errors.Is(err, llm.ErrRequest) {
			c.Errorf("Stream(a %s that is no JSON) = %v, want %v", name, err, llm.ErrRequest)
		}
	}
	if n := len(c.server.Requests()); n != 0 {
		c.Errorf("%d requests were sent, want none", n)
	}
}

func opaque(c *check) {
	p := c.ask(Says("Go on."), Says("Go on."))
	if !p.About().Rules.Opaque {
		return // Context makes none for it
	}
	item := json.RawMessage(`{"type":"compaction","encrypted_content":"` + sign("compacted") + `"}`)
	for _, raw := range []string{string(item), "[" + string(item) + "]"} {
		r := hello()
		r.Opaque = json.RawMessage(raw)
		c.answer(p, r)
		got := c.last()
		if diff := cmp.Diff([]json.RawMessage{item}, got.Opaque); diff != "" || len(got.Messages) != 1 {
			c.Errorf("Opaque %s: the request has (-want +got):\n%s\nand %d messages", raw, diff, len(got.Messages))
		}
	}
}
