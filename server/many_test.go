package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/skein-dev/skein"
)

func TestManyReadersEachHaveEveryEventOnce(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{User: "ann"}, "0")
	// A token may have 100 streams at once, and one that was left counts until the server
	// sees that: even if it sees none of the four of each reader, they are fewer.
	const readers, events = 24, 300
	var here skein.Cursor
	for f := range skein.FeedOf(s.store).Feed(t.Context(), skein.FeedNow) {
		here = f.Cursor
		break
	}
	read := func(path string, want int) error {
		leave := func() {}
		listen := func(headers ...string) (next func() string) {
			leave()
			ctx, cancel := context.WithCancel(t.Context())
			leave = cancel
			return s.listen(ctx, path, headers...)
		}
		defer func() { leave() }()
		next := listen()
		last := ""
		for n := 3; n <= want; n++ {
			if n%(events/3) == 0 { // disconnect and come back
				next = listen("Last-Event-ID: " + last)
			}
			got := next()
			id, data, _ := strings.Cut(got, " ")
			if last = id; !strings.Contains(data, fmt.Sprintf(`"seq":%d,`, n)) {
				return fmt.Errorf("GET %s has %q, want seq %d", path, got, n)
			}
		}
		return nil
	}
	var all sync.WaitGroup
	failed := make(chan error, readers)
	for i := range readers {
		all.Go(func() {
			path := []string{"/v1/stream?from=" + string(here), "/v1/sessions/a/events?follow=1&after=2"}[i%2]
			if err := read(path, 2+events); err != nil {
				failed <- err
			}
		})
	}
	for i := range events {
		if _, err := s.store.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{skein.Say(1, skein.UserSays(fmt.Sprint(i)))}}); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
}

func TestAReaderThatIsTooSlowIsDroppedAndComesBack(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "0")
	next := s.listen(t.Context(), "/v1/stream?from=now")
	if got := next(); !strings.HasPrefix(got, "ready ") {
		t.Fatalf("the stream begins with %q, want ready", got)
	}
	const events = 100
	text := strings.Repeat("x", 512<<10)
	for range events {
		if _, err := s.store.Append(t.Context(), skein.Batch{Session: "a", Events: []skein.Event{skein.Say(1, skein.UserSays(text))}}); err != nil {
			t.Fatal(err)
		}
	}
	seq, last := 2, ""
	for seq < events+2 {
		got := next()
		switch {
		case strings.HasPrefix(got, "problem ") && !strings.Contains(got, `"code":"slow"`):
			t.Fatalf("the stream ends with %.200s, want slow", got)
		case strings.HasPrefix(got, "problem "), got == "end": // longer than a write may take
			next = s.listen(t.Context(), "/v1/stream", "Last-Event-ID: "+last)
			continue
		}
		id, data, _ := strings.Cut(got, " ")
		if seq++; !strings.Contains(data[:min(len(data), 200)], fmt.Sprintf(`"seq":%d,`, seq)) {
			t.Fatalf("the stream has %.200s, want seq %d", got, seq)
		}
		last = id
	}
}

func TestStreamsAreCountedAndPagesAreNot(t *testing.T) {
	s := newSite(t)
	s.begin("a", skein.Created{}, "0")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 100 {
		s.listen(ctx, "/v1/sessions/a/events?follow=1")
	}
	s.refuses(429, "streams", "GET /v1/sessions/a/events?follow=1", "")
	s.refuses(429, "streams", "GET /v1/stream", "")
	s.raw(200, "GET /v1/sessions/a/events", "")
	s.as("", "read").listen(ctx, "/v1/stream")
}
