package window_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/eventtest"
	"github.com/skein-dev/skein/llm/window"
)

// Check rejects messages that Context would never make.
func TestRulesCheckRefuses(t *testing.T) {
	text := skein.TextPart
	says := func(role skein.Role, parts ...skein.Part) skein.Message {
		return skein.Message{Role: role, Parts: parts, Provider: "anthropic", Model: "m"}
	}
	named := func(id, name, input string) skein.Part {
		return skein.Part{Kind: skein.PartCall, Call: &skein.Call{ID: id, Name: name, Input: []byte(input)}}
	}
	const (
		us, as, to, sy = skein.RoleUser, skein.RoleAssistant, skein.RoleTool, skein.RoleSystem
	)
	reasoning := func(raw string) skein.Part {
		return skein.Part{Kind: skein.PartReasoning, Text: "hm", Raw: []byte(raw)}
	}
	image := skein.Part{Kind: skein.PartFile, File: &skein.File{Media: "image/png", Blob: "00"}}
	anthropic, chat := window.AnthropicRules("m"), window.OpenAIChatRules("m")
	for _, c := range []struct {
		rules    window.Rules
		want     string // in the error; "" if there must be none
		messages []skein.Message
	}{
		{anthropic, "", nil},
		{anthropic, "", []skein.Message{says(sy, text("s")), says(us, text("a"), image), says(as, reasoning(`"s"`), eventtest.Call("a")), says(us, eventtest.Result("a", ""), text("b")), says(as, text("c"))}},
		{chat, "", []skein.Message{says(as, eventtest.Call("a")), says(to, eventtest.Result("a", "")), says(sy, text("s")), says(us, text("b")), says(us, text("b"))}},
		{anthropic, "no parts", []skein.Message{says(us)}},
		{anthropic, "role", []skein.Message{says(skein.RoleSteer, text("a"))}},
		{anthropic, "role", []skein.Message{says(us, text("a")), says(as, eventtest.Call("a")), says(to, eventtest.Result("a", "x"))}},
		{anthropic, "comes after", []skein.Message{says(us, text("a")), says(sy, text("b"))}},
		{anthropic, "same role", []skein.Message{says(us, text("a")), says(us, text("b"))}},
		{anthropic, "not the user's", []skein.Message{says(sy, text("s")), says(as, text("b"))}},
		{anthropic, "ends with a space", []skein.Message{says(us, text("a")), says(as, text("b "))}},
		{anthropic, "blank", []skein.Message{says(us, text(" \n"))}},
		{anthropic, "UTF-8", []skein.Message{says(us, text("\xed\xa0\x80"))}},
		{anthropic, "does not take back", []skein.Message{says(us, text("a")), says(as, reasoning(""), text("b"))}},
		{anthropic, "does not take back", []skein.Message{says(us, reasoning(`"s"`))}},
		{window.AnthropicRules("n"), "does not take back", []skein.Message{says(us, text("a")), says(as, reasoning(`"s"`), text("b"))}},
		{chat, "does not take back", []skein.Message{says(as, reasoning(`"s"`), text("b"))}},
		{anthropic, "end of an answer", []skein.Message{says(us, text("a")), says(as, text("b"), reasoning(`"s"`)), says(us, text("c"))}},
		{anthropic, "file", []skein.Message{says(us, text("a")), says(as, image)}},
		{window.GenericRules(), "file", []skein.Message{says(us, image)}},
		{anthropic, "kind", []skein.Message{says(us, skein.Part{Kind: skein.PartSummary, Text: "s"})}},
		{anthropic, "calls a tool", []skein.Message{says(us, eventtest.Call("a")), says(as, text("b"))}},
		{chat, "call ID", []skein.Message{says(as, eventtest.Call("a|b")), says(to, eventtest.Result("a|b", ""))}},
		{chat, "call ID", []skein.Message{says(as, eventtest.Call(eventtest.LongID)), says(to, eventtest.Result(eventtest.LongID, ""))}},
		{chat, "second time", []skein.Message{says(as, eventtest.Call("a"), eventtest.Call("a")), says(to, eventtest.Result("a", ""))}},
		{chat, "tool name", []skein.Message{says(as, named("a", "b.c", "{}")), says(to, eventtest.Result("a", ""))}},
		{chat, "JSON object", []skein.Message{says(as, named("a", "b", `"{}"`)), says(to, eventtest.Result("a", ""))}},
		{chat, "JSON object", []skein.Message{says(as, named("a", "b", "")), says(to, eventtest.Result("a", ""))}},
		{chat, "no result for its calls", []skein.Message{says(as, eventtest.Call("a"), text("x"))}},
		{chat, "no result for 1 calls", []skein.Message{says(as, eventtest.Call("a"), eventtest.Call("b")), says(to, eventtest.Result("a", ""))}},
		{chat, "has 1 calls", []skein.Message{says(as, eventtest.Call("a")), says(us, text("b")), says(to, eventtest.Result("a", ""))}},
		{chat, "has 0 calls", []skein.Message{says(us, text("a")), says(to, eventtest.Result("a", ""))}},
		{chat, "no call before it", []skein.Message{says(as, eventtest.Call("a")), says(to, eventtest.Result("a", ""), eventtest.Result("b", ""))}},
		{chat, "another result", []skein.Message{says(as, eventtest.Call("a")), says(to, eventtest.Result("a", ""), eventtest.Result("a", ""))}},
		{chat, "no call before it", []skein.Message{says(us, eventtest.Result("a", ""))}},
		{anthropic, "after other parts", []skein.Message{says(us, text("x")), says(as, eventtest.Call("a"), eventtest.Call("b")), says(us, eventtest.Result("a", ""), text("b"), eventtest.Result("b", ""))}},
		{chat, "text among results", []skein.Message{says(as, eventtest.Call("a")), says(to, eventtest.Result("a", ""), text("b"))}},
	} {
		err := c.rules.Check(c.messages)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("Check = %v, want nil, of\n%s", err, showMessages(c.messages))
		case c.want != "" && (!errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("Check = %v, want an error wrapping ErrInvalid with %q in it, of\n%s", err, c.want, showMessages(c.messages))
		}
	}
}

func TestRulesFor(t *testing.T) {
	for provider, want := range map[string]string{"": "", "anthropic": "anthropic", "openai": "openai", "google": "google", "mistral": "mistral"} {
		if r := window.RulesFor(provider, "m"); r.Provider != want {
			t.Errorf("RulesFor(%q).Provider = %q, want %q", provider, r.Provider, want)
		}
	}
}
