package anthropic

import (
	"regexp"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/llm"
)

// budgeted matches the models that think only with a budget of tokens; later
// ones decide by the effort how long to think. Models of other vendors with
// this API support the older way.
const budgeted = `^claude-(3|instant|2|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8})?(@\d{8})?$)|^([^c]|c[^l])`

// maxTokens returns how many tokens an answer of model may have: its maximum,
// or 32,000, which is more than one step of an agent needs.
func maxTokens(model string) int64 {
	switch {
	case strings.HasPrefix(model, "claude-3-5-"):
		return 8192
	case strings.HasPrefix(model, "claude-3-7-"):
		return 32_000
	case strings.HasPrefix(model, "claude-3-"):
		return 4096
	}
	return 32_000
}

// think asks the model to think as hard as effort says.
func think(m *request, effort llm.Effort, messages []skein.Message) {
	if effort == "" {
		return
	}
	if ok, _ := regexp.MatchString(budgeted, m.Model); !ok {
		m.Thinking, m.Output = &thinking{Type: "adaptive", Display: "summarized"}, &output{string(effort)}
		return
	}
	budget := map[llm.Effort]int64{llm.Low: 2048, llm.Medium: 8192, llm.High: 16_384}[effort]
	if budget < m.MaxTokens && !midway(messages) {
		m.Thinking = &thinking{Type: "enabled", Budget: budget}
	}
}

// midway reports whether the messages end within a round of tools that began
// without a thought: the API rejects a model that would begin to think there.
func midway(messages []skein.Message) bool {
	n := len(messages)
	return n > 1 && messages[n-1].Parts[0].Kind == skein.PartResult && messages[n-2].Parts[0].Kind != skein.PartReasoning
}

// cache marks what the next request will also begin with: up to the system
// prompt, or the tools if there is none, and up to the last message.
func cache(m *request) {
	ephemeral := &mark{"ephemeral"}
	if n := len(m.System); n > 0 {
		m.System[n-1].Cache = ephemeral
	} else if n := len(m.Tools); n > 0 {
		m.Tools[n-1].Cache = ephemeral
	}
	if len(m.Messages) == 0 {
		return
	}
	parts := m.Messages[len(m.Messages)-1].Content
	for i := len(parts) - 1; i >= 0; i-- {
		if b, ok := parts[i].(*block); ok {
			b.Cache = ephemeral
			return
		}
	}
}
