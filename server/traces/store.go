package traces

import (
	"context"
	"iter"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/server/door"
)

// Store returns s with a span for each call that is made in a request, except
// Watch and Feed, which wait.
func (t *Traces) Store(s skein.Store) skein.Store {
	return &store{Store: s, Lifecycle: skein.LifecycleOf(s), Sources: skein.SourcesOf(s), t: t}
}

// A store is a Store whose calls are spans.
type store struct {
	skein.Store
	skein.Lifecycle
	skein.Sources
	t *Traces
}

// Unwrap returns the store without spans.
func (s *store) Unwrap() skein.Store { return s.Store }

// As implements [skein.Store].
func (s *store) As(u skein.User) skein.Store { return s.t.Store(s.Store.As(u)) }

// A timed is a running call. Its span is nil if there is no trace.
type timed struct{ span *traceSpan }

// begin begins a call, about a session unless id is "".
func (s *store) begin(ctx context.Context, name string, id skein.SessionID) (context.Context, timed) {
	request := from(ctx)
	if request == nil {
		return ctx, timed{}
	}
	ctx, span := s.t.begin(ctx, "store."+name, kindInternal, request.own)
	if id != "" {
		span.set(text("skein.session", string(id)))
	}
	return ctx, timed{span}
}

// end ends a call that returned or received that many items; negative if it has
// no number.
func (c timed) end(items int, err error) {
	if items >= 0 {
		c.span.set(number("skein.items", items))
	}
	if err != nil {
		c.span.fail(door.ProblemOf(err).Code)
	}
	c.span.finish()
}

// spun returns seq, with a span that lasts while it is ranged over.
func spun[T any](ctx context.Context, s *store, name string, id skein.SessionID, seq func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, c := s.begin(ctx, name, id)
		n, failed := 0, error(nil)
		defer func() { c.end(n, failed) }()
		for v, err := range seq(ctx) {
			if err == nil {
				n++
			}
			failed = err
			if !yield(v, err) {
				return
			}
		}
	}
}
