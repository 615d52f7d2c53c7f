package anthropic_test

import (
	"testing"

	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/anthropic"
	"github.com/skein-dev/skein/llm/llmtest"
)

func suite() llmtest.Suite {
	return llmtest.Suite{
		Serve: llmtest.Anthropic, Model: "claude-sonnet-4-5", Cut: "max_tokens",
		TooLong: "prompt is too long: 208310 tokens > 200000 maximum",
		Open:    open,
	}
}

func open(o llm.Options) (llm.Provider, error) { return anthropic.New(o) }

func TestProvider(t *testing.T) { llmtest.Run(t, suite()) }

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, suite()) }
