package remote

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/sleep"
	"github.com/skein-dev/skein/server/api"
)

const (
	awayFor  = 2 * time.Minute // how long to try to resume a stream
	maxPause = 5 * time.Second // between two tries
)

// Watch implements [skein.Store]. It yields the error of a server that cannot
// be reached at the start; one that becomes unreachable later is waited for, for
// two minutes.
func (s reads) Watch(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	if id == "." || id == ".." {
		return failed[skein.Event](fmt.Errorf("remote: watch %s: %w: no path can have this ID", id, skein.ErrInvalid))
	}
	return func(yield func(skein.Event, error) bool) {
		path := func() string {
			return fmt.Sprintf("/v1/sessions/%s/events?follow=1&after=%d", url.PathEscape(string(id)), max(after, 0))
		}
		err := s.follow(ctx, path, func(f sseEvent) error {
			e, err := readEvent(f.data)
			if err != nil {
				return err
			}
			after = e.Seq
			return given(yield(e, nil))
		})
		if err != nil {
			yield(skein.Event{}, fmt.Errorf("remote: watch %s: %w", id, err))
		}
	}
}

// Feed implements [skein.Feed]. It tolerates an unreachable server as
// [Store.Watch] does.
func (s feeds) Feed(ctx context.Context, after skein.Cursor) iter.Seq2[skein.Fed, error] {
	return func(yield func(skein.Fed, error) bool) {
		path := func() string { return "/v1/stream?from=" + url.QueryEscape(string(after)) }
		err := s.follow(ctx, path, func(f sseEvent) error {
			after = skein.Cursor(f.id)
			if f.event == "ready" {
				return given(yield(skein.Fed{Cursor: after}, nil))
			}
			got, err := readJSON[api.Fed](f.data)
			if err != nil {
				return err
			}
			return given(yield(skein.Fed{Cursor: after, Session: got.Session, User: got.User, Event: got.Event.Event, Damaged: got.Damaged}, nil))
		})
		if err != nil {
			yield(skein.Fed{}, fmt.Errorf("remote: feed: %w", err))
		}
	}
}

func failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		yield(none, err)
	}
}

// errEnough ends a stream whose caller has stopped ranging over it.
var errEnough = errors.New("enough")

func given(goOn bool) error {
	if goOn {
		return nil
	}
	return errEnough
}

// follow reads the stream at path, which includes where to start, and resumes it
// when it breaks off. The end of ctx is not an error.
func (v *view) follow(caller context.Context, path func() string, take func(sseEvent) error) error {
	if err := v.alive(context.WithoutCancel(caller)); err != nil {
		return err
	}
	ctx, cancel := v.within(caller)
	defer cancel()
	var since time.Time // when it became unreachable
	begun, rest := false, pause
	open := func(ctx context.Context) (*http.Response, error) {
		r, err := v.request(ctx, http.MethodGet, path(), nil)
		if err == nil {
			begun, since, rest = true, time.Time{}, pause
		}
		return r, err
	}
	for {
		err := frames(ctx, open, take)
		switch {
		case errors.Is(err, errEnough), caller.Err() != nil:
			return nil
		case ctx.Err() != nil:
			return skein.ErrClosed
		case !refused(err) || !begun:
			return err
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > awayFor:
			return err
		}
		_ = sleep.For(ctx, rest) // the next look at the stream says why it ended
		rest = min(2*rest, maxPause)
	}
}
