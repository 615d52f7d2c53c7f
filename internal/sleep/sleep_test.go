package sleep

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestForLastsUntilTheTimeHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := For(t.Context(), time.Hour); err != nil {
			t.Fatalf("For = %v", err)
		}
		if d := time.Since(began); d != time.Hour {
			t.Errorf("For(1h) lasts %s", d)
		}
	})
}

func TestForEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("For = %v, want the context's error", err)
		}
		if d := time.Since(began); d != time.Minute {
			t.Errorf("For lasts %s, want its context's 1m", d)
		}
	})
}
