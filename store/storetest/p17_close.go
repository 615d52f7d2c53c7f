package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
)

func closing() []check {
	return []check{
		{name: "every method says closed", run: everyMethod},
		{name: "a view does not close the store", run: closeView},
		{name: "calls under way finish, and tell the truth", run: underWay},
		{name: "a watch ends", run: closeWatch},
	}
}

func everyMethod(t *test) {
	blob, _ := t.full("a", "needle")
	l := t.acquire("a", skein.LeaseRequest{})
	view := t.s.As(skein.Local)
	for range 2 {
		t.noErr("Close", t.s.Close())
	}
	for name, s := range map[string]skein.Store{"store": t.s, "view": view} {
		ctx := t.Context()
		call := func(what string, err error) {
			t.Helper()
			t.wantErr(what+" of the "+name, err, skein.ErrClosed)
		}
		_, err := s.Append(ctx, skein.Batch{Session: "a", Events: []skein.Event{titled("x")}})
		call("Append", err)
		_, err = s.Session(ctx, "a")
		call("Session", err)
		call("Sessions", failure(t, s.Sessions(ctx, skein.Filter{})))
		call("Events", failure(t, s.Events(ctx, "a", 0)))
		_, err = s.Newest(ctx, "a", 1, 0)
		call("Newest", err)
		call("Watch", failure(t, s.Watch(ctx, "a", 0)))
		call("Feed", failure(t, skein.FeedOf(s).Feed(ctx, "")))
		_, err = s.Search(ctx, skein.Query{Substring: "x"})
		call("Search", err)
		_, err = s.Usage(ctx, skein.UsageQuery{})
		call("Usage", err)
		_, err = s.Blob(ctx, "a", blob.Hash)
		call("Blob", err)
		_, err = skein.LeasesOf(s).Acquire(ctx, "a", skein.LeaseRequest{})
		call("Acquire", err)
		_, err = skein.LeasesOf(s).Renew(ctx, l, time.Minute)
		call("Renew", err)
		call("Release", skein.LeasesOf(s).Release(ctx, l))
		call("Bin", skein.LifecycleOf(s).Bin(ctx, "a"))
		call("Restore", skein.LifecycleOf(s).Restore(ctx, "a"))
		_, err = skein.LifecycleOf(s).Delete(ctx, "a", skein.Deletion{})
		call("Delete", err)
		_, err = skein.LifecycleOf(s).Scrub(ctx, "a", []string{"needle"})
		call("Scrub", err)
		_, err = skein.SourcesOf(s).Find(ctx, []skein.ClientID{"a-1"})
		call("Find", err)
		_, err = skein.SourcesOf(s).File(ctx, "codex", "/x/a")
		call("File", err)
		call("Files", failure(t, skein.SourcesOf(s).Files(ctx, "")))
		call("Records", failure(t, skein.SourcesOf(s).Records(ctx, "codex", "/x/a", 0)))
		call("FilesNamed", failure(t, skein.SourcesOf(s).FilesNamed(ctx, "a")))
		_, err = skein.LifecycleOf(s).Size(ctx, "a")
		call("Size", err)
	}
}

func closeView(t *test) {
	t.add("a", created())
	view := t.s.As(skein.Local)
	t.noErr("Close of a view", view.Close())
	t.add("a", user("x"))
	if _, err := view.Session(t.Context(), "a"); err != nil {
		t.Errorf("Session through the view = %v", err)
	}
}

func underWay(t *test) {
	t.add("a", created())
	var stored atomic.Int64
	ready := make(chan struct{}, 1000)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		everyone(16, func(int) {
			for {
				_, err := t.s.Append(context.Background(), skein.Batch{Session: "a", Events: []skein.Event{user("x")}})
				if err != nil {
					if !errors.Is(err, skein.ErrClosed) {
						t.Errorf("Append = %v, want ErrClosed", err)
					}
					return
				}
				stored.Add(1)
				select {
				case ready <- struct{}{}:
				default:
				}
			}
		})
	}()
	for range 20 {
		<-ready
	}
	t.noErr("Close", t.s.Close())
	<-finished
	if t.options.Address != nil {
		wantEnd(t, t.dial(), "a", skein.Seq(stored.Load())+1)
	}
}

func closeWatch(t *test) {
	t.add("a", created())
	ended := make(chan error)
	first := make(chan struct{})
	go func() {
		var last error
		for _, err := range t.s.Watch(context.Background(), "a", 0) {
			if last = err; err == nil {
				close(first)
			}
		}
		ended <- last
	}()
	<-first
	t.noErr("Close", t.s.Close())
	t.wantErr("a watch when the store is closed", <-ended, skein.ErrClosed)
}
