package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/bench/gen"
)

// newYear is the time at which the sessions begin.
var newYear = skein.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// beginning returns the first event of a session.
func beginning(project string, at skein.Time) skein.Event {
	return skein.NewEvent(skein.KindCreated, at, skein.Created{Project: project, Cwd: project, Agent: "bench", Program: "bench"})
}

// said returns n messages of about bytes each, 20 seconds apart, by a person
// and a model alternately, the model's with their usage.
func said(w *gen.Words, n, bytes int, at skein.Time) []skein.Event {
	evs := make([]skein.Event, n)
	for i := range evs {
		evs[i] = message(w.Prose(bytes), i, "req_"+w.Hex(10), at+skein.Time(i+1)*20_000)
	}
	return evs
}

// piece returns message i, whose text is the i-th KB of text.
func piece(text string, i int) skein.Event {
	at := i * 1000 % (len(text) - 1000)
	return message(strings.ToValidUTF8(text[at:at+1000], ""), i, fmt.Sprintf("req_%d", i), newYear+skein.Time(i)*20_000)
}

// message returns message i of a conversation.
func message(text string, i int, request string, at skein.Time) skein.Event {
	m := skein.UserSays(text)
	if i%2 == 1 {
		m.Role, m.Provider, m.Model, m.Request = skein.RoleAssistant, "anthropic", models(i), request
		m.Usage = &skein.Usage{Input: 12, Output: int64(40 + i%500), CacheRead: int64(9000 + i%20000), CacheWrite: 300}
	}
	return skein.Say(at, m)
}

func models(i int) string {
	return []string{"claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001", "gpt-5-codex"}[i/2%3]
}
