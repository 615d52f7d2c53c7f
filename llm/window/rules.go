package window

import (
	"slices"
	"strings"
	"unicode"

	"github.com/skein-dev/skein"
)

// Rules say what a provider takes as the messages of a request. [Context]
// makes messages that keep them, [Rules.Check] tells whether some do.
//
// Some hold for every provider: a message has parts; only the assistant calls
// tools; each call has an ID of its own, and the next message begins with the
// results of all its calls, one each; results stand nowhere else; texts are
// UTF-8 and not blank; inputs of calls are JSON objects.
//
// The zero value is [GenericRules].
type Rules struct {
	Provider    string     // whose reasoning and opaque items may go back; "" for none
	Model       string     // whose reasoning may go back; "" for every one of the provider's
	Reasoning   bool       // the provider wants its signed reasoning back; it must not end an answer
	Opaque      bool       // the provider takes an opaque item in place of a summary
	ResultsAs   skein.Role // role of the message with a round's results: RoleUser, or RoleTool, which "" means
	SystemFirst bool       // system messages stand before all others
	UserFirst   bool       // after those comes a user message
	Alternate   bool       // no two messages in a row have one role
	TrimLast    bool       // an answer at the end does not end with a space
	Media       []string   // types of files in user messages, or beginnings of types: image/
	ResultMedia []string   // the same in results
	MaxName     int        // bytes of a tool's name, which has only letters, digits, _ and -; 0 for no rule
	MaxCall     int        // bytes of a call's ID, likewise
	Newest      int        // at most about this many of the newest messages, cut where a round of tools begins; 0 for all
	Room        int        // bytes that the messages may take: what is too much is left out, the oldest results first, and marked; the newest message of the user's never is; 0 for no bound
	Aside       bool       // the last message is a program's, about those before: that is what Room leaves whole
}

// GenericRules are the ones that hold everywhere: what a template for a local
// model takes. No file and no reasoning goes through.
func GenericRules() Rules { return Rules{} }

// AnthropicRules are those of Anthropic's Messages API, for a request to model
// (checked 2026-11 against its documentation and error texts).
func AnthropicRules(model string) Rules {
	return Rules{
		Provider: "anthropic", Model: model, Reasoning: true, ResultsAs: skein.RoleUser,
		SystemFirst: true, UserFirst: true, Alternate: true, TrimLast: true,
		Media:       []string{"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf", "text/plain"},
		ResultMedia: []string{"image/jpeg", "image/png", "image/gif", "image/webp"},
		MaxName:     64, MaxCall: 64,
	}
}

// OpenAIChatRules are those of OpenAI's Chat Completions API and of the many
// servers that speak it.
func OpenAIChatRules(model string) Rules {
	return Rules{
		Provider: "openai", Model: model,
		Media:   []string{"image/jpeg", "image/png", "image/gif", "image/webp"},
		MaxName: 64, MaxCall: 40,
	}
}

// OpenAIResponsesRules are those of OpenAI's Responses API.
func OpenAIResponsesRules(model string) Rules {
	return Rules{
		Provider: "openai", Model: model, Reasoning: true, Opaque: true,
		Media:       []string{"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf"},
		ResultMedia: []string{"image/jpeg", "image/png", "image/gif", "image/webp"},
		MaxName:     64, MaxCall: 64,
	}
}

// GoogleRules are those of Google's Gemini API.
func GoogleRules(model string) Rules {
	return Rules{
		Provider: "google", Model: model, Reasoning: true, ResultsAs: skein.RoleUser,
		SystemFirst: true, UserFirst: true, Alternate: true,
		Media:   []string{"image/", "audio/", "video/", "application/pdf", "text/plain"},
		MaxName: 64, MaxCall: 64,
	}
}

// RulesFor returns the rules for a request to model, by the provider's name as
// sessions have it: anthropic, openai, google; those of Chat Completions for
// every other one, with the files that they have in common.
func RulesFor(provider, model string) Rules {
	switch provider {
	case "":
		return GenericRules()
	case "anthropic":
		return AnthropicRules(model)
	case "openai":
		return OpenAIResponsesRules(model)
	case "google":
		return GoogleRules(model)
	}
	r := OpenAIChatRules(model)
	r.Provider = provider
	return r
}

// resultsAs is the role of messages with results.
func (r *Rules) resultsAs() skein.Role {
	if r.ResultsAs == "" {
		return skein.RoleTool
	}
	return r.ResultsAs
}

// takes reports whether a file can stand among those of the given types: its
// bytes are in a blob or at a URL, and its type is one of them.
func takes(types []string, f *skein.File) bool {
	return (f.Blob != "" || f.URL != "") && slices.ContainsFunc(types, func(t string) bool {
		return f.Media == t || strings.HasSuffix(t, "/") && strings.HasPrefix(f.Media, t)
	})
}

// takesBack reports whether the reasoning p of the message m may be sent: it
// has the provider's own signature, and the same provider and model made it.
func (r *Rules) takesBack(m *skein.Message, p *skein.Part) bool {
	return r.Reasoning && len(p.Raw) > 0 && r.Provider != "" && m.Provider == r.Provider && (r.Model == "" || m.Model == r.Model)
}

// plainName returns name with _ for every character that is no letter, digit,
// _ or -, at most limit bytes of it; if limit is 0, name as it is. An empty
// one becomes what is given for it.
func plainName(name string, limit int, empty string) string {
	if name == "" {
		return empty
	}
	if limit == 0 {
		return name
	}
	name = strings.Map(func(r rune) rune {
		if r >= 0x80 || r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return '_'
		}
		return r
	}, name)
	return name[:min(len(name), limit)]
}
