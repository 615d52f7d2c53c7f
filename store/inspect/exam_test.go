package inspect_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/skein-dev/skein/store/inspect"
)

// told returns what an examination yields, in words.
func told(ctx context.Context, x inspect.Examination, most int, areas func(*inspect.Exam)) (all []string) {
	for f, err := range inspect.Run(ctx, x, "examine x", areas) {
		line := f.Area + " " + string(f.Level) + ": " + f.Text
		if err != nil {
			line = err.Error()
		}
		if f.Mended {
			line += " (mended)"
		}
		if all = append(all, line); len(all) == most {
			break
		}
	}
	return all
}

func TestExamGoesOnAfterDamage(t *testing.T) {
	areas := func(e *inspect.Exam) {
		e.Area("a", func(a string) error { return errors.New("torn") })
		e.Area("b", func(a string) error {
			e.Damage(a, "s", "bad")
			e.Fine(a, "all whole")
			return nil
		})
		e.Area("c", func(a string) error {
			return e.Mend(inspect.Finding{Area: a, Level: inspect.Warning, Text: "loose"}, func() error { return nil })
		})
		e.Area("d", func(a string) error {
			e.Fine(a, "%d whole", 2)
			return nil
		})
	}
	want := []string{"a damaged: cannot be read: torn", "b damaged: bad", "c warning: loose", "d ok: 2 whole"}
	if got := told(t.Context(), inspect.Examination{}, 0, areas); !slices.Equal(got, want) {
		t.Errorf("Run yields %q, want %q", got, want)
	}
	want[2] += " (mended)"
	if got := told(t.Context(), inspect.Examination{Repair: true}, 0, areas); !slices.Equal(got, want) {
		t.Errorf("Run to repair yields %q, want %q", got, want)
	}
	if got := told(t.Context(), inspect.Examination{}, 2, areas); !slices.Equal(got, []string{want[0], want[1]}) {
		t.Errorf("Run yields %q, want the first two: who ranges has enough", got)
	}
}

func TestExamEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	got := told(ctx, inspect.Examination{}, 0, func(e *inspect.Exam) {
		e.Area("a", func(a string) error {
			cancel()
			return ctx.Err()
		})
		e.Area("b", func(a string) error {
			e.Fine(a, "whole")
			return nil
		})
	})
	if want := []string{"examine x: context canceled"}; !slices.Equal(got, want) {
		t.Errorf("Run yields %q, want %q", got, want)
	}
}

func TestWaits(t *testing.T) {
	for _, c := range []struct {
		lag  inspect.Lag
		want string
	}{
		{inspect.Lag{}, "no events wait to be indexed"},
		{inspect.Lag{Events: 7, Since: 60_000}, "7 events wait to be indexed, the oldest for 1m0s"},
		{inspect.Lag{Events: 7, Since: 180_000}, "7 events wait to be indexed, the oldest for 0s"}, // clocks can be set back
	} {
		if got := inspect.Waits(c.lag, time.UnixMilli(120_000)); got != c.want {
			t.Errorf("Waits(%+v) = %q, want %q", c.lag, got, c.want)
		}
	}
}
