package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein/llm/llmtest"
)

// faulty runs test with a typist and a provider of each wire format; in a short run
// each test has one, not always the same.
func faulty(t *testing.T, test func(t *testing.T, p *typist, s *llmtest.Server, model string)) {
	all := []struct {
		model, key, base string
		serve            func(testing.TB, ...llmtest.Reply) *llmtest.Server
	}{
		{"anthropic:claude-x", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", llmtest.Anthropic},
		{"openai:gpt-x", "OPENAI_API_KEY", "OPENAI_BASE_URL", llmtest.OpenAI},
		{"google:gemini-x", "GEMINI_API_KEY", "GOOGLE_OPENAI_BASE_URL", llmtest.Google},
		{"vllm:m", "VLLM_API_KEY", "VLLM_BASE_URL", llmtest.Chat},
	}
	if testing.Short() {
		i := len(t.Name()) % len(all)
		all = all[i : i+1]
	}
	for _, c := range all {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			s := c.serve(t)
			test(t, newTypist(t, map[string]string{c.key: llmtest.Key, c.base: s.URL}), s, c.model)
		})
	}
}

// An answer that is cut off after any byte, or is not JSON from there on, is
// requested again, and its first part does not become part of the conversation.
func TestAnAnswerThatBreaksOffAnywhereIsAskedForAgain(t *testing.T) {
	faulty(t, func(t *testing.T, p *typist, s *llmtest.Server, model string) {
		half, step := llmtest.Says("One two three."), 17
		if testing.Short() {
			step = 47
		}
		for i, whole := 0, 0; whole < 4; i++ {
			how, at := []llmtest.Break{llmtest.Cut, llmtest.End, llmtest.Garbage}[i%3], step*i
			had := len(s.Requests())
			s.Reply(llmtest.Breaks(half, how, at))
			s.Otherwise(llmtest.Says("Four five six."))
			out, errs, code := p.typed(t.Context(), "run", "--model", model, "count")
			asked := len(s.Requests()) - had
			switch {
			case code == 0 && out == "Four five six.\n" && asked == 2 && strings.Contains(errs, "again in "):
				whole = 0
			case code == 0 && out == "One two three.\n" && asked == 1:
				whole++ // the break is after the end of the answer
			default:
				t.Fatalf("%s at byte %d: run = %q, exit code %d, asked %d times\n%s", how, at, out, code, asked, errs)
			}
			if i%8 != 0 {
				continue
			}
			if out, errs, code := p.typed(t.Context(), "continue", "on"); code != 0 || out != "Four five six.\n" {
				t.Fatalf("%s at byte %d: continue = %q, exit code %d\n%s", how, at, out, code, errs)
			}
			r := s.Requests()
			if body := string(r[len(r)-1].Body); whole == 0 && strings.Contains(body, "One") {
				t.Errorf("%s at byte %d: the model is shown half an answer:\n%s", how, at, body)
			}
		}
		noneRefused(t, s)
	})
}

// noneRefused checks that no request was refused.
func noneRefused(t *testing.T, s *llmtest.Server) {
	t.Helper()
	for i, r := range s.Requests() {
		if r.Refused != "" {
			t.Errorf("request %d was turned down: %s\n%s", i+1, r.Refused, r.Body)
		}
	}
}

// A provider may say how long to wait before the next request. We wait that long,
// unless it is longer than a person would wait.
func TestAProviderIsLeftAloneForAsLongAsItWants(t *testing.T) {
	faulty(t, func(t *testing.T, p *typist, s *llmtest.Server, model string) {
		var waits []time.Duration
		p.wait = func(d time.Duration) { waits = append(waits, d) }
		late := llmtest.Fails(429, "Slow down.")
		late.After = 77 * time.Second
		s.Reply(late, llmtest.Says("Here I am."))
		out, errs, code := p.typed(t.Context(), "run", "--model", model, "hello")
		if code != 0 || out != "Here I am.\n" || !strings.Contains(errs, "Slow down.; trying again in 77 s") || len(waits) != 1 || waits[0] != late.After {
			t.Errorf("run = %q, exit code %d, after the waits %v\n%s", out, code, waits, errs)
		}
		waits, late.After = nil, 2*time.Hour
		s.Reply(late)
		out, errs, code = p.typed(t.Context(), "run", "--model", model, "hello")
		if code != 1 || out != "" || !strings.Contains(errs, "Slow down.") || !strings.Contains(errs, "try again later") || len(waits) != 0 {
			t.Errorf("run, to be left alone for 2 hours, = %q, exit code %d, after the waits %v\n%s", out, code, waits, errs)
		}
		noneRefused(t, s)
	})
}

// A request that a provider cannot answer at the moment is retried a limited number
// of times, with growing pauses; each retry is stored as a step.
func TestAProviderInTroubleIsAskedAFewTimes(t *testing.T) {
	faulty(t, func(t *testing.T, p *typist, s *llmtest.Server, model string) {
		var waits []time.Duration
		p.wait = func(d time.Duration) { waits = append(waits, d) }
		s.Otherwise(llmtest.Fails(500, "Something broke."))
		out, errs, code := p.typed(t.Context(), "run", "--model", model, "hello")
		if code != 1 || out != "" || !strings.Contains(errs, "HTTP 500") || !strings.Contains(errs, "with: skein continue") {
			t.Errorf("run = %q, exit code %d\n%s", out, code, errs)
		}
		asked := len(s.Requests())
		if asked != len(waits)+1 || asked < 3 || asked > 8 {
			t.Errorf("it was asked %d times, with the waits %v", asked, waits)
		}
		for i := 1; i < len(waits); i++ {
			if waits[i] <= waits[i-1] {
				t.Errorf("the waits are %v, want each longer than the one before", waits)
			}
		}
		events, _, _ := p.typed(t.Context(), "show", "last", "--events")
		for try := 1; try <= asked; try++ {
			if step := fmt.Sprintf(`"status":500},"attempt":%d}`, try); !strings.Contains(events, step) {
				t.Errorf("show --events has no %s:\n%s", step, events)
			}
		}
		s.Otherwise(llmtest.Says("I am back."))
		if out, errs, code := p.typed(t.Context(), "continue"); code != 0 || out != "I am back.\n" {
			t.Errorf("continue = %q, exit code %d\n%s", out, code, errs)
		}
		noneRefused(t, s)
	})
}

func TestAWrongKeyIsSaidAndNotShown(t *testing.T) {
	faulty(t, func(t *testing.T, p *typist, s *llmtest.Server, model string) {
		const wrong = "sk-this-is-not-the-key"
		for name, v := range p.vars {
			if v == llmtest.Key {
				p.vars[name] = wrong
			}
		}
		out, errs, code := p.typed(t.Context(), "run", "--model", model, "hello")
		if code != 1 || out != "" || !strings.Contains(errs, "key was turned down (HTTP 4") || !strings.Contains(errs, "check the API key") {
			t.Errorf("run = %q, exit code %d\n%s", out, code, errs)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("the provider was asked %d times, want once", n)
		}
		events, _, _ := p.typed(t.Context(), "show", "last", "--events")
		if strings.Contains(errs+events, wrong) {
			t.Errorf("the key is shown:\n%s\n%s", errs, events)
		}
	})
}
