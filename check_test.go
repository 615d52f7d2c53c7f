package skein_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
)

// Check knows the rules by itself: what Context would never make is refused.
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
	anthropic, chat := skein.AnthropicRules("m"), skein.OpenAIChatRules("m")
	for _, c := range []struct {
		rules    skein.Rules
		want     string // in the error; "" if it is fine
		messages []skein.Message
	}{
		{anthropic, "", nil},
		{anthropic, "", []skein.Message{says(sy, text("s")), says(us, text("a"), image), says(as, reasoning(`"s"`), call("a")), says(us, result("a", ""), text("b")), says(as, text("c"))}},
		{chat, "", []skein.Message{says(as, call("a")), says(to, result("a", "")), says(sy, text("s")), says(us, text("b")), says(us, text("b"))}},
		{anthropic, "no parts", []skein.Message{says(us)}},
		{anthropic, "role", []skein.Message{says(skein.RoleSteer, text("a"))}},
		{anthropic, "role", []skein.Message{says(us, text("a")), says(as, call("a")), says(to, result("a", "x"))}},
		{anthropic, "comes after", []skein.Message{says(us, text("a")), says(sy, text("b"))}},
		{anthropic, "same role", []skein.Message{says(us, text("a")), says(us, text("b"))}},
		{anthropic, "not the user's", []skein.Message{says(sy, text("s")), says(as, text("b"))}},
		{anthropic, "ends with a space", []skein.Message{says(us, text("a")), says(as, text("b "))}},
		{anthropic, "blank", []skein.Message{says(us, text(" \n"))}},
		{anthropic, "UTF-8", []skein.Message{says(us, text("\xed\xa0\x80"))}},
		{anthropic, "does not take back", []skein.Message{says(us, text("a")), says(as, reasoning(""), text("b"))}},
		{anthropic, "does not take back", []skein.Message{says(us, reasoning(`"s"`))}},
		{skein.AnthropicRules("n"), "does not take back", []skein.Message{says(us, text("a")), says(as, reasoning(`"s"`), text("b"))}},
		{chat, "does not take back", []skein.Message{says(as, reasoning(`"s"`), text("b"))}},
		{anthropic, "end of an answer", []skein.Message{says(us, text("a")), says(as, text("b"), reasoning(`"s"`)), says(us, text("c"))}},
		{anthropic, "file", []skein.Message{says(us, text("a")), says(as, image)}},
		{skein.GenericRules(), "file", []skein.Message{says(us, image)}},
		{anthropic, "kind", []skein.Message{says(us, skein.Part{Kind: skein.PartSummary, Text: "s"})}},
		{anthropic, "calls a tool", []skein.Message{says(us, call("a")), says(as, text("b"))}},
		{chat, "call ID", []skein.Message{says(as, call("a|b")), says(to, result("a|b", ""))}},
		{chat, "call ID", []skein.Message{says(as, call(longID)), says(to, result(longID, ""))}},
		{chat, "second time", []skein.Message{says(as, call("a"), call("a")), says(to, result("a", ""))}},
		{chat, "tool name", []skein.Message{says(as, named("a", "b.c", "{}")), says(to, result("a", ""))}},
		{chat, "JSON object", []skein.Message{says(as, named("a", "b", `"{}"`)), says(to, result("a", ""))}},
		{chat, "JSON object", []skein.Message{says(as, named("a", "b", "")), says(to, result("a", ""))}},
		{chat, "no result for its calls", []skein.Message{says(as, call("a"), text("x"))}},
		{chat, "no result for 1 calls", []skein.Message{says(as, call("a"), call("b")), says(to, result("a", ""))}},
		{chat, "has 1 calls", []skein.Message{says(as, call("a")), says(us, text("b")), says(to, result("a", ""))}},
		{chat, "has 0 calls", []skein.Message{says(us, text("a")), says(to, result("a", ""))}},
		{chat, "no call before it", []skein.Message{says(as, call("a")), says(to, result("a", ""), result("b", ""))}},
		{chat, "another result", []skein.Message{says(as, call("a")), says(to, result("a", ""), result("a", ""))}},
		{chat, "no call before it", []skein.Message{says(us, result("a", ""))}},
		{anthropic, "after other parts", []skein.Message{says(us, text("x")), says(as, call("a"), call("b")), says(us, result("a", ""), text("b"), result("b", ""))}},
		{chat, "text among results", []skein.Message{says(as, call("a")), says(to, result("a", ""), text("b"))}},
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
		if r := skein.RulesFor(provider, "m"); r.Provider != want {
			t.Errorf("RulesFor(%q).Provider = %q, want %q", provider, r.Provider, want)
		}
	}
}
