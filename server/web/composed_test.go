package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// composedNow is the time at which tests see the composed sessions.
var composedNow = time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)

// composer writes sessions as people and agents would.
type composer struct {
	t     *testing.T
	store skein.Store
	id    skein.SessionID
	at    skein.Time
	calls int
}

// begin begins another session.
func (c *composer) begin(id string, at time.Time, created skein.Created) {
	c.id, c.at = skein.SessionID(id), skein.At(at)
	c.put(skein.NewEvent(skein.KindCreated, c.at, created))
}

func (c *composer) put(events ...skein.Event) skein.Seq {
	c.t.Helper()
	last, err := skein.Add(c.t.Context(), c.store, c.id, events...)
	if err != nil {
		c.t.Fatal(err)
	}
	return last
}

// later advances the clock of the session.
func (c *composer) later(d time.Duration) { c.at += skein.Time(d.Milliseconds()) }

func (c *composer) asks(text string) skein.Seq {
	c.later(40 * time.Second)
	return c.put(skein.Say(c.at, skein.UserSays(text)))
}

// answers says text as a model, with some usage.
func (c *composer) answers(model, text string, u skein.Usage) skein.Seq {
	c.later(9 * time.Second)
	c.calls++
	return c.put(skein.Say(c.at, skein.Message{
		Role: skein.RoleAssistant, Provider: providerOf(model), Model: model, Request: fmt.Sprintf("req_%d", c.calls), Usage: &u,
		Parts: []skein.Part{{Kind: skein.PartReasoning, Text: "What was asked, and what is there already?"}, skein.TextPart(text)},
	}))
}

// runs lets a model call a tool, and the tool return a result.
func (c *composer) runs(model, tool, input, output string, failed bool, u skein.Usage) skein.Seq {
	c.calls++
	c.later(4 * time.Second)
	call := skein.Call{ID: fmt.Sprintf("call_%d", c.calls), Name: tool, Input: json.RawMessage(input)}
	c.put(skein.Say(c.at, skein.Message{
		Role: skein.RoleAssistant, Provider: providerOf(model), Model: model, Request: fmt.Sprintf("req_%d", c.calls), Usage: &u,
		Parts: []skein.Part{{Kind: skein.PartCall, Call: &call}},
	}))
	start := c.at
	state := skein.Completed
	if failed {
		state = skein.Failed
	}
	c.put(skein.NewEvent(skein.KindTool, start, skein.ToolState{Call: call.ID, State: skein.Running, Start: start}))
	c.later(2100 * time.Millisecond)
	return c.put(
		skein.NewEvent(skein.KindTool, c.at, skein.ToolState{Call: call.ID, State: state, Start: start, End: c.at}),
		skein.Say(c.at, skein.Message{Role: skein.RoleTool, Parts: []skein.Part{{Kind: skein.PartResult, Result: &skein.Result{CallID: call.ID, Name: tool, Text: skein.Text(output), Failed: failed}}}}),
	)
}

const (
	sonnet = "claude-sonnet-4-5"
	haiku  = "claude-haiku-4-5"
)

// providerOf returns the provider of a model.
func providerOf(model string) string {
	if strings.HasPrefix(model, "gpt") {
		return "openai"
	}
	return "anthropic"
}

func used(in, out, read, write int64) skein.Usage {
	return skein.Usage{Input: in, Output: out, CacheRead: read, CacheWrite: write}
}

// composed returns a store with sessions of several agents and surfaces; the
// first one, s-retry, has a bit of everything.
func composed(t *testing.T) skein.Store {
	t.Helper()
	c := &composer{t: t, store: memory.New()}
	t.Cleanup(func() {
		if err := c.store.Close(); err != nil {
			t.Error(err)
		}
	})
	c.retry()
	c.others()
	return c.store
}

func (c *composer) retry() {
	c.begin("s-retry", composedNow.Add(-3*time.Hour), skein.Created{
		Key: "cli:courier", Title: "Retry uploads that broke off", Surface: "cli", Project: "/home/ada/courier", Cwd: "/home/ada/courier", Checkout: &skein.Checkout{Repository: "github.com/ada/courier"}, Agent: "reviewer", Provider: "anthropic", Model: sonnet, Program: "skein",
	})
	c.asks("Uploads of more than 1 GB break off on slow lines. Make `Upload` try again from where it was, and tell me what you changed.")
	c.runs(sonnet, "search", `{"pattern":"func Upload","path":"."}`, "upload.go:31:func Upload(ctx context.Context, r io.ReaderAt, size int64) error {", false, used(5210, 120, 0, 4800))
	c.runs(sonnet, "read", `{"path":"upload.go","from":25,"to":60}`, "func Upload(ctx context.Context, r io.ReaderAt, size int64) error {\n\tfor at := int64(0); at < size; at += chunk {\n\t\tif err := send(ctx, r, at); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n\treturn nil\n}", false, used(310, 95, 4800, 700))
	c.answers(sonnet, "`Upload` gives up at the first error. I would:\n\n1. ask the server how far it got (`HEAD`, header `Upload-Offset`),\n2. go on from there, at most five times,\n3. wait between two tries, twice as long each time.\n\n```go\nfor try := 0; try < 5; try++ {\n\tat, err := offset(ctx, id)\n\tif err == nil {\n\t\terr = sendFrom(ctx, r, at)\n\t}\n\tif !temporary(err) {\n\t\treturn err\n\t}\n}\n```\n\n| tries | waits |\n| --- | --- |\n| 1 | 1 s |\n| 5 | 16 s |", used(280, 540, 5500, 900))
	at := c.asks("Yes, do that. And a test.")
	c.runs(sonnet, "edit", `{"path":"upload.go","old":"\t\tif err := send(ctx, r, at); err != nil {\n\t\t\treturn err\n\t\t}","new":"\t\tif err := retry(ctx, 5, func() error { return send(ctx, r, at) }); err != nil {\n\t\t\treturn err\n\t\t}"}`, "1 place changed in upload.go", false, used(260, 410, 6400, 610))
	c.runs(sonnet, "shell", `{"command":"go test ./..."}`, "--- FAIL: TestUploadGoesOn (0.02s)\n    upload_test.go:44: 3 requests, want 2\nFAIL", true, used(190, 88, 7000, 420))
	c.runs(sonnet, "shell", `{"command":"go test ./..."}`, "ok  \texample.com/courier\t0.8s", false, used(240, 130, 7400, 380))
	c.answers(sonnet, "Done: `Upload` goes on from where the server says it was. The test lets a line break twice, and counts what is sent again: **nothing**.", used(150, 210, 7800, 260))
	retry := c.at.Std()

	c.begin("s-child", retry.Add(-2*time.Minute), skein.Created{Title: "Look for other callers of send", Surface: "cli", Project: "/home/ada/courier", Agent: "scout", Model: haiku, Parent: &skein.Parent{Session: "s-retry", Seq: at, Why: skein.Child}})
	c.asks("Who else calls send?")
	c.answers(haiku, "Only `Upload`.", used(2100, 40, 0, 0))
	c.begin("s-fork", retry.Add(20*time.Minute), skein.Created{Surface: "cli", Parent: &skein.Parent{Session: "s-retry", Seq: at - 1, Why: skein.Fork}})
	c.put(skein.NewEvent(skein.KindTitled, c.at, skein.Titled{Title: "The same, without waiting", By: skein.ByPerson}))
	c.asks("And if we just send everything again?")
	c.answers(sonnet, "Then 1 GB is sent up to five times. I would not.", used(300, 60, 6100, 200))
	c.begin("s-fork2", retry.Add(40*time.Minute), skein.Created{Surface: "cli", Parent: &skein.Parent{Session: "s-fork", Seq: at + 3, Why: skein.Fork}})
	c.put(skein.NewEvent(skein.KindTitled, c.at, skein.Titled{Title: "How others resume", By: skein.ByPerson}))
	c.asks("How do others do it?")
	c.answers(sonnet, "Most use resumable uploads.", used(210, 80, 6300, 0))
}

// others adds sessions for the lists and charts.
func (c *composer) others() {
	titles := []struct{ title, surface, project, agent, model, origin string }{
		{"Why the nightly build is slow", "import", "/home/ada/orchard", "claude-code", "claude-opus-4-5", "claude-code"},
		{"Translate the invoice templates", "telegram", "", "clerk", haiku, ""},
		{"Move the queue to Postgres", "import", "/home/ada/orchard", "codex", "gpt-5", "codex"},
		{"Read me the release notes", "slack", "", "clerk", haiku, ""},
		{"A parser for the sensor log", "cli", "/home/ada/meter", "reviewer", sonnet, ""},
		{"What is in this picture?", "discord", "", "clerk", "gpt-5-mini", ""},
	}
	for i := range 40 {
		s := titles[i%len(titles)]
		created := skein.Created{Title: s.title, Surface: s.surface, Project: s.project, Agent: s.agent, Model: s.model, Program: "skein"}
		if i >= len(titles) {
			created.Title += fmt.Sprintf(", part %d", i/len(titles)+1)
		}
		if s.origin != "" {
			created.Origin = &skein.Origin{Format: s.origin, Path: fmt.Sprintf("/home/ada/.%s/%d.jsonl", s.origin, i), ID: fmt.Sprint(i)}
		}
		c.begin(fmt.Sprintf("s-other-%02d", i), composedNow.Add(-time.Duration(i*17+1)*time.Hour), created)
		c.asks("Please have a look at this, and be brief.")
		n := int64(i%7+1) * 900
		c.answers(s.model, "I have looked; here is what I found.", used(n, n/3, n*6, n/2))
	}
	for _, id := range []skein.SessionID{"s-other-38", "s-other-39"} {
		if err := skein.LifecycleOf(c.store).Bin(c.t.Context(), id); err != nil {
			c.t.Fatal(err)
		}
	}
}
