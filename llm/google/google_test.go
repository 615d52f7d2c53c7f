package google_test

import (
	"testing"

	"github.com/skein-dev/skein/llm/google"
	"github.com/skein-dev/skein/llm/llmtest"
)

func suite(model string) llmtest.Suite {
	return llmtest.Suite{
		Serve: llmtest.Google, Model: model, Cut: "length",
		TooLong: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		Open:    google.New,
	}
}

func TestProvider(t *testing.T) { llmtest.Run(t, suite("gemini-3-pro-preview")) }

func TestOlderModel(t *testing.T) { llmtest.Run(t, suite("gemini-2.5-flash")) }

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, suite("gemini-3-pro-preview")) }
