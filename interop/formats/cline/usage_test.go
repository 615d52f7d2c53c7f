package cline

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
)

// What was cached is counted once: it is part of the input of some providers, and
// beside that of others.
func TestWhatWasCachedIsCountedOnce(t *testing.T) {
	const text = `"tokensIn":4598,"tokensOut":20,"cacheReads":4099`
	for _, c := range []struct {
		provider, text string
		input          int64
	}{
		{"openai", text, 499},
		{"litellm", text, 499},
		{"anthropic", text, 4598},
		{"openrouter", text, 4598},
		{"anthropic", text + `,"apiProtocol":"openai"`, 499},
		{"openai", text + `,"apiProtocol":"anthropic"`, 4598},
		{"openai", `"tokensIn":10,"tokensOut":20,"cacheReads":4099`, 10},
	} {
		q, ok := requestOf("{"+c.text+"}", c.provider)
		if want := (skein.Usage{Input: c.input, Output: 20, CacheRead: 4099}); !ok || q.usage != want {
			t.Errorf("requestOf({%s}, %s) (-want +got):\n%s", c.text, c.provider, cmp.Diff(want, q.usage))
		}
	}
}
