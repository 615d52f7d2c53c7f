package openai_test

import (
	"testing"

	"github.com/skein-dev/skein/llm"
	"github.com/skein-dev/skein/llm/llmtest"
	"github.com/skein-dev/skein/llm/openai"
)

const tooLong = "This model's maximum context length is 128000 tokens. However, your messages resulted in 130112 tokens."

func chatSuite() llmtest.Suite {
	return llmtest.Suite{
		Serve: llmtest.Chat, Model: "gpt-4.1", Cut: "length", TooLong: tooLong, NoKey: true,
		Open: func(o llm.Options) (llm.Provider, error) { return openai.NewChat("openai", o) },
	}
}

func TestChat(t *testing.T) { llmtest.Run(t, chatSuite()) }

func suite() llmtest.Suite {
	return llmtest.Suite{
		Serve: llmtest.OpenAI, Model: "gpt-5", Cut: "max_output_tokens", TooLong: tooLong,
		Open: func(o llm.Options) (llm.Provider, error) { return openai.New(o) },
	}
}

func TestProvider(t *testing.T) { llmtest.Run(t, suite()) }

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, suite()) }

func FuzzChat(f *testing.F) { llmtest.Fuzz(f, chatSuite()) }
