package web_test

import (
	"context"
	"testing"
	"time"

	"github.com/skein-dev/skein"
)

// slow is a store that needs a second to search a session.
type slow struct {
	skein.Store
	asked *int
}

func (s slow) Unwrap() skein.Store { return s.Store }

func (s slow) Search(ctx context.Context, q skein.Query) (skein.Results, error) {
	*s.asked++
	if q.Deadline < time.Second {
		return skein.Results{CutOff: true}, nil
	}
	return s.Store.Search(ctx, q)
}

// fast is a store that counts its searches.
type fast struct{ slow }

func (s fast) Search(ctx context.Context, q skein.Query) (skein.Results, error) {
	*s.asked++
	return s.Store.Search(ctx, q)
}

func TestFindInASessionLooksLongerOnlyIfItWasCutOff(t *testing.T) {
	store := composed(t)
	for words, want := range map[string]string{"uploads": "for “uploads”", "xylophone": "Nothing in this session has “xylophone”"} {
		far := slow{store, new(int)}
		wants(t, "what a slow store finds", visiting(t, far, nil).get("/sessions/s-retry?find="+words), want)
		near := fast{slow{store, new(int)}}
		wants(t, "what a fast store finds", visiting(t, near, nil).get("/sessions/s-retry?find="+words), want)
		if *far.asked != 2 || *near.asked != 1 {
			t.Errorf("for %q the slow store is asked %d times, the fast one %d, want 2 and 1", words, *far.asked, *near.asked)
		}
	}
}
