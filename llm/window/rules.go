package window

import (
	"slices"
	"strings"
	"unicode"

	"github.com/skein-dev/skein"
)

// Rules say which messages a provider accepts in a request. [Context] makes
// messages that keep them, [Rules.Check] reports whether messages do.
//
// Some rules hold for every provider: a message has parts; only the assistant
// calls tools; each call has a unique ID, and the next message begins with the
// results of all its calls, one each; results occur nowhere else; texts are
// valid UTF-8 and not blank; inputs of calls are JSON objects.
//
// The zero value is [GenericRules].
type Rules struct {
	Provider    string     // provider whose reasoning and opaque items may be sent back; "" for none
	Model       string     // model whose reasoning may be sent back; "" for every model of the provider
	Reasoning   bool       // the provider requires its signed reasoning back; an answer must not end with it
	Opaque      bool       // the provider accepts an opaque item in place of a summary
	ResultsAs   skein.Role // role of the message with a round's results: RoleUser or RoleTool; "" means RoleTool
	SystemFirst bool       // system messages precede all others
	UserFirst   bool       // after those comes a user message
	Alternate   bool       // consecutive messages have different roles
	TrimLast    bool       // a final answer does not end with a space
	Media       []string   // media types of files in user messages, or prefixes of types: image/
	ResultMedia []string   // the same for results
	MaxName     int        // maximum bytes of a tool's name, which has only letters, digits, _ and -; 0 for no rule
	MaxCall     int        // maximum bytes of a call's ID, which has the same characters; 0 for no rule
	Newest      int        // show at most about this many of the newest messages, cut where a round of tools begins; 0 for all
	Room        int        // maximum bytes of the messages: what exceeds it is left out and marked, the oldest results first, but never the user's newest message; 0 for no bound
	Aside       bool       // the last message is a program's, about the earlier ones: Room leaves that one whole
}

// GenericRules returns rules that every provider accepts, such as the template
// of a local model. They allow no files and no reasoning.
func GenericRules() Rules { return Rules{} }

// AnthropicRules returns the rules of Anthropic's Messages API for a request to
// model (checked 2026-11 against its documentation and error texts).
func AnthropicRules(model string) Rules {
	return Rules{
		Provider: "anthropic", Model: model, Reasoning: true, ResultsAs: skein.RoleUser,
		SystemFirst: true, UserFirst: true, Alternate: true, TrimLast: true,
		Media:       []string{"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf", "text/plain"},
		ResultMedia: []string{"image/jpeg", "image/png", "image/gif", "image/webp"},
		MaxName:     64, MaxCall: 64,
	}
}

// OpenAIChatRules returns the rules of OpenAI's Chat Completions API and of
// compatible servers.
func OpenAIChatRules(model string) Rules {
	return Rules{
		Provider: "openai", Model: model,
		Media:   []string{"image/jpeg", "image/png", "image/gif", "image/webp"},
		MaxName: 64, MaxCall: 40,
	}
}

// OpenAIResponsesRules returns the rules of OpenAI's Responses API.
func OpenAIResponsesRules(model string) Rules {
	return Rules{
		Provider: "openai", Model: model, Reasoning: true, Opaque: true,
		Media:       []string{"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf"},
		ResultMedia: []string{"image/jpeg", "image/png", "image/gif", "image/webp"},
		MaxName:     64, MaxCall: 64,
	}
}

// GoogleRules returns the rules of Google's Gemini API.
func GoogleRules(model string) Rules {
	return Rules{
		Provider: "google", Model: model, Reasoning: true, ResultsAs: skein.RoleUser,
		SystemFirst: true, UserFirst: true, Alternate: true,
		Media:   []string{"image/", "audio/", "video/", "application/pdf", "text/plain"},
		MaxName: 64, MaxCall: 64,
	}
}

// RulesFor returns the rules for a request to model, by the provider's name in
// sessions: anthropic, openai, google; for others, those of Chat Completions,
// with the files that they have in common.
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

// resultsAs returns the role of messages with results.
func (r *Rules) resultsAs() skein.Role {
	if r.ResultsAs == "" {
		return skein.RoleTool
	}
	return r.ResultsAs
}

// takes reports whether a file is allowed among the given types: its bytes are
// in a blob or at a URL, and its type is one of them.
func takes(types []string, f *skein.File) bool {
	return (f.Blob != "" || f.URL != "") && slices.ContainsFunc(types, func(t string) bool {
		return f.Media == t || strings.HasSuffix(t, "/") && strings.HasPrefix(f.Media, t)
	})
}

// takesBack reports whether the reasoning p of the message m may be sent back:
// it is signed, and the same provider and model made it.
func (r *Rules) takesBack(m *skein.Message, p *skein.Part) bool {
	return r.Reasoning && len(p.Raw) > 0 && r.Provider != "" && m.Provider == r.Provider && (r.Model == "" || m.Model == r.Model)
}

// plainName returns name with _ for every character that is not a letter,
// digit, _ or -, cut to limit bytes; if limit is 0, name unchanged. If name is
// empty, it returns empty.
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
