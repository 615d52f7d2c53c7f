package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli/clitest"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/store/memory"
)

// keys is a key ring.
type keys map[string]string

func (k keys) Key(provider string) (string, error) { return k[provider], nil }

func (k keys) SetKey(provider, key string) error {
	k[provider] = key
	return nil
}

func (k keys) DropKey(provider string) error {
	delete(k, provider)
	return nil
}

func TestAKeyIsKeptInTheKeyRingAndNeverShown(t *testing.T) {
	ring := keys{}
	type answer struct {
		out, errs string
		code      int
	}
	typed := func(in string, k config.KeyRing, args ...string) answer {
		env, _, _ := clitest.NewEnv(t, memory.New())
		var out, errs bytes.Buffer
		env.Stdin, env.Stdout, env.Stderr, env.KeyRing = strings.NewReader(in), &out, &errs, k
		code := Main(t.Context(), env, args)
		return answer{out.String(), errs.String(), code}
	}
	if a := typed("sk-secret\n", ring, "key", "anthropic"); a.code != 0 || ring["anthropic"] != "sk-secret" {
		t.Fatalf("key anthropic = %+v, the key ring has %v", a, ring)
	}
	if a := typed("", ring, "key"); a.code != 0 || !strings.Contains(a.out, "anthropic   key ring") || !strings.Contains(a.out, "openai      none: OPENAI_API_KEY") ||
		!strings.Contains(a.out, "ollama      not needed") || strings.Contains(a.out, "sk-secret") {
		t.Errorf("key = %+v", a)
	}
	if a := typed("", ring, "run", "--model", "openai:x", "hello"); a.code != 1 || !strings.Contains(a.errs, "no key for openai") {
		t.Errorf("run with a model without a key = %+v", a)
	}
	if a := typed("", ring, "key", "anthropic", "--remove", "--yes"); a.code != 0 || len(ring) > 0 {
		t.Errorf("key anthropic --remove = %+v, the key ring has %v", a, ring)
	}
	if a := typed("sk-secret\n", nil, "key", "google"); a.code != 1 || !strings.Contains(a.errs, "put the key into the environment: GEMINI_API_KEY or GOOGLE_API_KEY") {
		t.Errorf("key google without a key ring = %+v", a)
	}
	if a := typed("\n", ring, "key", "google"); a.code != 2 {
		t.Errorf("key google, nothing typed = %+v", a)
	}
	if a := typed("x\n", ring, "key", "gogle"); a.code != 3 || !strings.Contains(a.errs, "there are: anthropic, ") {
		t.Errorf("key gogle = %+v", a)
	}
}
