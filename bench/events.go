package main

import (
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
)

// newYear is when the sessions begin.
var newYear = skein.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// beginning returns the event that a session of ours begins with.
func beginning(project string, at skein.Time) skein.Event {
	return skein.NewEvent(skein.KindCreated, at, skein.Created{Project: project, Cwd: project, Agent: "bench", Program: "bench"})
}

// said returns n messages of about bytes each, 20 seconds apart, of a person
// and a model in turn, the model's with what they used.
func said(w *gen.Words, n, bytes int, at skein.Time) []skein.Event {
	evs := make([]skein.Event, n)
	for i := range evs {
		at += 20_000
		m := skein.UserSays(w.Prose(bytes))
		if i%2 == 1 {
			m.Role, m.Provider, m.Model = skein.RoleAssistant, "anthropic", models(i)
			m.Request = "req_" + w.Hex(10)
			m.Usage = &skein.Usage{Input: 12, Output: int64(40 + i%500), CacheRead: int64(9000 + i%20000), CacheWrite: 300}
		}
		evs[i] = skein.Say(at, m)
	}
	return evs
}

func models(i int) string {
	return []string{"claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "gpt-5-codex"}[i/2%3]
}
