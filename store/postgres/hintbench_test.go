package postgres

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// BenchmarkHint measures the time from an append on one store to its event at a reader
// of another, 500 times: by watch and by feed, on an idle server and while 16 writers
// append to sessions of their own as fast as they can.
func BenchmarkHint(b *testing.B) {
	dsn := pgtest.DSN(b)
	if os.Getenv(pgtest.Env) == "" { // on a server of its own
		dsn = pgtest.New(b, pgtest.Options{}).DSN(b)
	}
	s, other, third := openTest(b, dsn), openTest(b, dsn), openTest(b, dsn)
	addText(b, s, "a")
	for _, writers := range []int{0, 16} {
		for _, by := range []string{"watch", "feed"} {
			b.Run(fmt.Sprintf("%s beside %d writers", by, writers), func(b *testing.B) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				seen := heardBy(ctx, other, by, "a")
				ended := make(chan error, writers)
				for i := range writers {
					go func() { ended <- chatter(ctx, third, skein.SessionID(fmt.Sprint("other-", i))) }()
				}
				warm := time.NewTimer(time.Second) // until it listens, and they write
				<-warm.C
				var all []time.Duration
				for range 500 {
					end, err := skein.Add(ctx, s, "a", skein.Say(2, skein.UserSays("x")))
					if err != nil {
						b.Fatal(err)
					}
					stored := time.Now()
					for last := skein.Seq(0); last < end; {
						last = <-seen
					}
					all = append(all, time.Since(stored))
				}
				cancel()
				for range writers {
					if err := <-ended; err != nil {
						b.Error(err)
					}
				}
				slices.Sort(all)
				for _, x := range []struct {
					name string
					is   time.Duration
				}{{"p50-ms", all[len(all)/2]}, {"p99-ms", all[len(all)*99/100]}, {"max-ms", all[len(all)-1]}} {
					b.ReportMetric(float64(x.is.Microseconds())/1000, x.name)
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// heardBy sends the seqs of the events of a session as they come.
func heardBy(ctx context.Context, s skein.Store, by string, id skein.SessionID) <-chan skein.Seq {
	seen := make(chan skein.Seq, 1000)
	go func() {
		if by == "watch" {
			h, _ := s.Session(ctx, id)
			for e := range s.Watch(ctx, id, h.Last) {
				seen <- e.Seq
			}
			return
		}
		for f := range skein.FeedOf(s).Feed(ctx, skein.FeedNow) {
			if f.Session == id {
				seen <- f.Event.Seq
			}
		}
	}()
	return seen
}

// chatter appends to a session until ctx ends.
func chatter(ctx context.Context, s skein.Store, id skein.SessionID) error {
	if _, err := s.Session(ctx, id); err != nil {
		if _, err := skein.Add(ctx, s, id, skein.NewEvent(skein.KindCreated, 1, skein.Created{})); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		if _, err := skein.Add(ctx, s, id, skein.Say(2, skein.UserSays("what others say"))); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
