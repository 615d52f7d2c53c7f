package remote_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/store/inspect"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/remote"
)

// behind is a store whose index is behind.
type behind struct {
	skein.Store
	lag inspect.Lag
}

func (b behind) Unwrap() skein.Store { return b.Store }

// Lag implements [inspect.IndexLag].
func (b behind) Lag(context.Context) (inspect.Lag, error) { return b.lag, nil }

func TestLagIsThatOfTheServersStore(t *testing.T) {
	want := inspect.Lag{Events: 7, Since: skein.At(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC))}
	at := serve(t, behind{memory.New(), want})
	lagOf := func(token string) (inspect.Lag, error) {
		s, err := remote.Open(t.Context(), remote.Options{URL: at.URL, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() //nolint:errcheck // it was read from
		return s.Lag(t.Context())
	}
	if got, err := lagOf(at.tokens.First()); err != nil || got != want {
		t.Errorf("Lag = %+v, %v; want %+v", got, err, want)
	}
	token, err := at.tokens.Add(door.Token{Name: "reader", Scope: "read"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := lagOf(token); !errors.Is(err, remote.ErrForbidden) || !errors.Is(err, remote.ErrAdmin) {
		t.Errorf("Lag for who may only read = %+v, %v; want it forbidden: it is everybody's", got, err)
	}
}
