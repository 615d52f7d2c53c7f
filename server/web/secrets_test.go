package web_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/web"
)

// TestNoPageShowsASecretOrAPieceOfOne puts a secret wherever a person, a model,
// a tool or a program says something, also where it is cut off, and looks at
// every page.
func TestNoPageShowsASecretOrAPieceOfOne(t *testing.T) {
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	p := &parrot{store: composed(t)}
	chat := web.NewChat(p)
	t.Cleanup(chat.Close)
	c := &composer{t: t, store: p.store, calls: 2000}
	c.begin("s-secret", composedNow, skein.Created{Title: "Token " + secret, Agent: "codex", Model: sonnet})
	secretly(c, secret)
	c.begin("s-kid", composedNow, skein.Created{Title: "As " + secret, Parent: &skein.Parent{Session: "s-secret", Seq: 3, Why: skein.Child, Call: "call_2001"}})
	c.asks(strings.Repeat("long words ", 9) + secret) // its name is cut off somewhere
	c.begin("s-gone", composedNow, skein.Created{Title: "Gone " + secret, Surface: "cli"})
	c.asks("token " + secret)
	if err := skein.LifecycleOf(p.store).Bin(t.Context(), "s-gone"); err != nil {
		t.Fatal(err)
	}
	v := visiting(t, p.store, func(o *web.Options) { o.Secrets, o.Chat = redact.New(), chat })
	hides := func(what, page string) {
		t.Helper()
		if i := strings.Index(page, secret[:8]); i >= 0 {
			t.Errorf("%s shows a secret: …%q…", what, page[max(0, i-60):min(len(page), i+60)])
		}
	}
	one := "/sessions/s-secret"
	for _, path := range []string{
		"/", "/?children=1", "/?title=Token", "/search?q=token", "/search?q=role:tool", "/bin", "/usage?since=", "/health?look=1", "/sessions/s-kid", "/sessions/s-kid/tree", "/sessions/s-gone",
		one, one + "?before=0", one + "?find=token", one + "/messages", one + "/messages/3", one + "/messages/9", one + "/tree", one + "/replay", one + "/chat", one + "/chat/state",
		one + "/download?as=md", one + "/download?as=html", one + "/download?as=json",
	} {
		hides(path, v.get(path))
	}
	gone := url.Values{"id": {"s-gone"}}
	hides("the question whether to destroy it", v.send("/bin/purge", gone))
	hides("what restoring did", v.send("/bin/restore", gone))
	hides("what renaming did", v.send("/sessions/s-gone/rename", url.Values{"title": {secret}}))
	if page := v.get(one + "?raw=1"); !strings.Contains(page, secret) {
		t.Error("the page with secrets has none: they are nowhere")
	}
}

// secretly says a secret in every possible way.
func secretly(c *composer, secret string) {
	c.asks("my token is " + secret + " ok")
	c.runs(sonnet, "Bash", `{"command":"curl -H 'Authorization: Bearer `+secret+`'","description":"`+secret+`"}`, "token="+secret, false, used(1, 1, 0, 0))
	c.runs(sonnet, "Bash", `{"command":"x"}`, "+"+secret, true, used(1, 1, 0, 0))
	c.put(skein.NewEvent(skein.KindTool, c.at, skein.ToolState{Call: "call_2001", State: skein.Completed, Title: "said " + secret}))
	file := skein.File{Name: secret + ".txt", Media: "text/plain", URL: "https://ann:" + secret + "@files.example/x"}
	c.put(skein.Say(c.at, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &file}}}))
	c.put(skein.Say(c.at, skein.Message{
		Role: skein.RoleAssistant, Model: sonnet, Error: &skein.ErrorInfo{Kind: "auth", Message: "the key " + secret + " is not known"},
		Parts: []skein.Part{{Kind: skein.PartReasoning, Text: skein.Text("is " + secret + " right?")}, {Kind: skein.PartSummary, Text: skein.Text("had " + secret)}, {Kind: skein.PartOther, Raw: skein.MustJSON("raw " + secret)}},
	}))
	status := "waits for " + secret
	c.put(
		skein.NewEvent(skein.KindChanged, c.at, skein.Changed{Status: &status}),
		skein.NewEvent(skein.KindTitled, c.at, skein.Titled{Title: "Token " + secret, Description: "of " + secret, By: skein.ByPerson}),
		skein.NewEvent(skein.KindStep, c.at, skein.Step{Phase: "finish", Error: &skein.ErrorInfo{Kind: "auth", Message: "wrong key " + secret}}),
		skein.NewEvent(skein.KindNoted, c.at, skein.Noted{Name: "warning", Level: "warning", Data: skein.MustJSON("leaked " + secret)}),
	)
	at := c.put(skein.NewEvent(skein.KindNoted, c.at, skein.Noted{Name: "x"}))
	c.put(skein.NewEvent(skein.KindCompacted, c.at, skein.Compacted{To: at, Summary: "It was about " + secret}))
	c.asks("go on")
}
