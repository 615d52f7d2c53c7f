package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent"
	"github.com/skein-dev/skein/store/sqlite"
)

// BenchmarkTurn measures a turn on a model that takes no time: opening the
// thread, the turn, closing it; then the turn alone. This is the overhead on
// top of a model's own time.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{10, 100_000} {
		b.Run(fmt.Sprintf("open, turn, close, %d messages", n), func(b *testing.B) {
			s := talkOf(b, n)
			median(b, func() {
				th := benchOpen(b, s)
				benchTurn(b, th)
				if err := th.Close(b.Context(), "done"); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run(fmt.Sprintf("turn, %d messages", n), func(b *testing.B) {
			th := benchOpen(b, talkOf(b, n))
			median(b, func() { benchTurn(b, th) })
		})
	}
}

// median reports the median duration of do, which hardly changes if the machine
// is busy with other things.
func median(b *testing.B, do func()) {
	b.Helper()
	var all []time.Duration
	for b.Loop() {
		start := time.Now()
		do()
		all = append(all, time.Since(start))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "median-ms")
}

func benchOpen(b *testing.B, s skein.Store) *agent.Thread {
	b.Helper()
	th, err := agent.Open(b.Context(), agent.Options{Store: s, Session: "s", Program: "bench", Agent: agent.Agent{Model: newModel()}})
	if err != nil {
		b.Fatal(err)
	}
	return th
}

func benchTurn(b *testing.B, th *agent.Thread) {
	b.Helper()
	if out, err := th.Turn(b.Context(), skein.UserSays("and then?")); err != nil || out.Text != "done" {
		b.Fatal(out, err)
	}
}

// talkOf returns a store with a session of n messages of some 600 bytes, which
// was compacted every 80 messages, and often ran tools.
func talkOf(b *testing.B, n int) skein.Store {
	b.Helper()
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "skein.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
	last := skein.Seq(0)
	flush := func() {
		if last, err = skein.Add(context.Background(), s, "s", evs...); err != nil {
			b.Fatal(err)
		}
		evs = nil
	}
	for i := range n {
		words := strings.Repeat(fmt.Sprintf("message %d says that the parser is right. ", i), 14)
		m := skein.UserSays(words)
		if i%2 == 1 {
			m = *message(skein.TextPart(words))
			evs = append(evs, skein.NewEvent(skein.KindStep, 1, skein.Step{Phase: "finish", Mode: "turn"}))
		}
		if evs = append(evs, skein.Say(1, m)); i%80 == 79 && i < n-1 {
			flush()
			evs = append(evs, skein.NewEvent(skein.KindCompacted, 1, skein.Compacted{To: last - 10, Summary: words + words + words, Trigger: "auto"}))
		}
	}
	flush()
	return s
}
