package whole

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/storetest/fixture"
	"github.com/skein-dev/skein/store/storetest/harness"
)

func closing() []harness.Check {
	return []harness.Check{
		{Name: "every method says closed", Run: everyMethod},
		{Name: "a view does not close the store", Run: closeView},
		{Name: "calls under way finish, and tell the truth", Run: underWay},
		{Name: "a watch ends", Run: closeWatch},
	}
}

func everyMethod(t *harness.Test) {
	blob, _ := t.Full("a", "needle")
	l := t.Acquire("a", skein.LeaseRequest{})
	view := t.Store.As(skein.Local)
	for range 2 {
		t.NoErr("Close", t.Store.Close())
	}
	for name, s := range map[string]skein.Store{"store": t.Store, "view": view} {
		ctx := t.Context()
		call := func(what string, err error) {
			t.Helper()
			t.WantErr(what+" of the "+name, err, skein.ErrClosed)
		}
		_, err := s.Append(ctx, skein.Batch{Session: "a", Events: []skein.Event{fixture.Titled("x")}})
		call("Append", err)
		_, err = s.Session(ctx, "a")
		call("Session", err)
		call("Sessions", harness.Failure(t, s.Sessions(ctx, skein.Filter{})))
		call("Events", harness.Failure(t, s.Events(ctx, "a", 0)))
		_, err = s.Newest(ctx, "a", 1, 0)
		call("Newest", err)
		call("Watch", harness.Failure(t, s.Watch(ctx, "a", 0)))
		call("Feed", harness.Failure(t, skein.FeedOf(s).Feed(ctx, "")))
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
		call("Files", harness.Failure(t, skein.SourcesOf(s).Files(ctx, "")))
		call("Records", harness.Failure(t, skein.SourcesOf(s).Records(ctx, "codex", "/x/a", 0)))
		call("FilesNamed", harness.Failure(t, skein.SourcesOf(s).FilesNamed(ctx, "a")))
		_, err = skein.LifecycleOf(s).Size(ctx, "a")
		call("Size", err)
	}
}

func closeView(t *harness.Test) {
	t.Add("a", fixture.Created())
	view := t.Store.As(skein.Local)
	t.NoErr("Close of a view", view.Close())
	t.Add("a", fixture.User("x"))
	if _, err := view.Session(t.Context(), "a"); err != nil {
		t.Errorf("Session through the view = %v", err)
	}
}

func underWay(t *harness.Test) {
	t.Add("a", fixture.Created())
	var stored atomic.Int64
	ready := make(chan struct{}, 1000)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		harness.Everyone(16, func(int) {
			for {
				_, err := t.Store.Append(context.Background(), skein.Batch{Session: "a", Events: []skein.Event{fixture.User("x")}})
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
	t.NoErr("Close", t.Store.Close())
	<-finished
	if t.Options.Address != nil {
		harness.WantEnd(t, t.Dial(), "a", skein.Seq(stored.Load())+1)
	}
}

func closeWatch(t *harness.Test) {
	t.Add("a", fixture.Created())
	ended := make(chan error)
	first := make(chan struct{})
	go func() {
		var last error
		for _, err := range t.Store.Watch(context.Background(), "a", 0) {
			if last = err; err == nil {
				close(first)
			}
		}
		ended <- last
	}()
	<-first
	t.NoErr("Close", t.Store.Close())
	t.WantErr("a watch when the store is closed", <-ended, skein.ErrClosed)
}
