package reads

import (
	"context"
	"errors"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func givingUp() []harness.Check {
	return []harness.Check{
		{Name: "at the beginning of a read, and later reads work", Run: giveUpReading},
	}
}

// firstOf reads only the first value.
func firstOf[T any](it iter.Seq2[T, error]) (err error) {
	for _, err = range it {
		break
	}
	return err
}

// giveUpReading has callers that give up at every moment of every read. Such a read
// may succeed or say that its context ended; those that follow must succeed.
func giveUpReading(t *harness.Test) {
	s := t.Store
	t.Add("a", fixture.Created(), fixture.User("needle"))
	reads := map[string]func(context.Context) error{
		"Session": func(ctx context.Context) error { _, err := s.Session(ctx, "a"); return err },
		"Newest":  func(ctx context.Context) error { _, err := s.Newest(ctx, "a", 1, 0); return err },
		"Window":  func(ctx context.Context) error { _, err := s.Window(ctx, "a", 0); return err },
		"Usage":   func(ctx context.Context) error { _, err := s.Usage(ctx, skein.UsageQuery{}); return err },
		"Search": func(ctx context.Context) error {
			_, err := s.Search(ctx, skein.Query{Substring: "needle", Deadline: harness.Patience})
			return err
		},
		"Sessions": func(ctx context.Context) error { return firstOf(s.Sessions(ctx, skein.Filter{})) },
		"Events":   func(ctx context.Context) error { return firstOf(s.Events(ctx, "a", 0)) },
	}
	harness.Everyone(8, func(int) {
		for name, read := range reads {
			for n := range 12 {
				if err := read(harness.EndingAt(n)); err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s whose context ends = %v, want nil or %v", name, err, context.Canceled)
				}
				if err := read(t.Context()); err != nil {
					t.Errorf("%s after one whose context ended = %v", name, err)
					return
				}
			}
		}
	})
}
