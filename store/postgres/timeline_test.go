package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/pgtest"
)

// fed returns the next n events of a feed, and the cursor after them.
func fed(t *testing.T, s *Store, at skein.Cursor, n int) (got []string, end skein.Cursor) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for f, err := range s.Feed(ctx, at) {
		if err != nil {
			t.Fatalf("Feed(%q) yields the error %v", at, err)
		}
		got = append(got, fmt.Sprintf("%s %d", f.Session, f.Event.Seq))
		if len(got) == n {
			return got, f.Cursor
		}
	}
	t.Fatalf("Feed(%q) yields %v and no more for 2 minutes, want %d events", at, got, n)
	return nil, ""
}

// follows waits until the standby at dsn has a row of the journal.
func follows(t *testing.T, dsn string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), pgtest.As(t, dsn, "skein_all"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context()) //nolint:errcheck // nothing was written
	until(t, "the standby has what was stored", func() bool {
		var n int
		err := c.QueryRow(t.Context(), `SELECT count(*) FROM journal`).Scan(&n)
		return err == nil && n > 0
	})
}

// A standby that lacks the last commits takes over. A reader that had seen those gets
// what replaced them; one that had not gets everything once; and the old server reports
// that it does not know what came since.
func TestAFeedGoesOnAtAStandbyThatLacksCommits(t *testing.T) {
	first := pgtest.New(t, pgtest.Options{})
	dsn := first.DSN(t)
	s := openTest(t, dsn)
	addText(t, s, "a", "kept")
	second := first.Standby(t, pgtest.Options{})
	there := strings.Replace(dsn, first.Address(), second.Address(), 1)
	follows(t, there)
	second.Stop(t, "fast")
	_, early := fed(t, s, "", 1)
	_, kept := fed(t, s, "", 2)
	for i := range 6 {
		addText(t, s, "a", fmt.Sprint("lost ", i))
	}
	addText(t, s, "lost", "too")
	_, middle := fed(t, s, "", 4)
	_, late := fed(t, s, "", 10)
	var now skein.Cursor
	for f, err := range s.Feed(t.Context(), skein.FeedNow) {
		if now = f.Cursor; err != nil {
			t.Fatal(err)
		}
		break
	}
	first.Stop(t, "immediate")
	second.Start(t)
	second.Promote(t)

	o := openTest(t, there)
	turned, err := bookmarkOf(late, o.cluster)
	if err != nil {
		t.Fatal(err)
	}
	if page, _, _, _, err := o.feedPage(t.Context(), &turned); err != nil || len(page) > 0 || turned.line != 2 {
		t.Errorf("the first page after the last event is %v, %v, on timeline %d; want nothing, on 2", page, err, turned.line)
	}
	addText(t, o, "a", "instead")
	addText(t, o, "b", "new")
	want := []string{"a 3", "b 1", "b 2"}
	for name, at := range map[string]skein.Cursor{"kept": kept, "middle": middle, "late": late, "now": now, "turned": turned.cursor(o.cluster)} {
		if got, _ := fed(t, o, at, len(want)); !slices.Equal(got, want) {
			t.Errorf("Feed after the last %s event yields %v, want %v", name, got, want)
		}
	}
	got, newest := fed(t, o, early, 1+len(want))
	if want := append([]string{"a 2"}, want...); !slices.Equal(got, want) {
		t.Errorf("Feed after the first event yields %v, want %v", got, want)
	}
	for i := range 12 {
		addText(t, o, "a", "more")
		got, end := fed(t, o, newest, 1)
		if w := fmt.Sprint("a ", 4+i); got[0] != w {
			t.Errorf("Feed yields %v, want %s", got, w)
		}
		newest = end
	}
	if got, _ := fed(t, o, late, 15); !slices.Equal(got[:3], want) || got[14] != "a 15" {
		t.Errorf("Feed after the last event yields %v", got)
	}
	first.Start(t)
	again := openTest(t, dsn)
	n := 0
	for _, err := range again.Feed(t.Context(), newest) {
		if n++; !errors.Is(err, skein.ErrInvalid) || !strings.Contains(err.Error(), "start again") {
			t.Errorf("Feed of a cursor of what took over yields the error %v, want one of an invalid cursor", err)
		}
	}
	if n != 1 {
		t.Errorf("Feed of a cursor of what took over yields %d values, want an error", n)
	}
	if got, _ := fed(t, again, middle, 6); got[0] != "a 5" || got[5] != "lost 2" {
		t.Errorf("Feed of the first server after 4 events yields %v, want what it had", got)
	}
}

// The cached head of a session is not used with a standby that has taken over and lacks
// what the program wrote, even if it has other events with the same seqs.
func TestAnAppendAtAStandbyThatLacksCommitsBelievesNothing(t *testing.T) {
	first := pgtest.New(t, pgtest.Options{})
	dsn := first.DSN(t)
	second := first.Standby(t, pgtest.Options{})
	there := strings.Replace(dsn, first.Address(), second.Address(), 1)
	both := strings.Replace(dsn, first.Address(), first.Address()+","+second.Address(), 1) + "&target_session_attrs=read-write&connect_timeout=5"
	s := openTest(t, both)
	addText(t, s, "a", "kept")
	follows(t, there)
	second.Stop(t, "fast")
	if _, err := skein.Add(t.Context(), s, "a", skein.NewEvent(skein.KindTitled, 5, skein.Titled{Title: "lost", By: skein.ByPerson})); err != nil {
		t.Fatal(err)
	}
	first.Stop(t, "immediate")
	second.Start(t)
	second.Promote(t)
	addText(t, openTest(t, there), "a", "instead")
	var err error
	until(t, "an append after the standby took over", func() bool {
		_, err = skein.Add(t.Context(), s, "a", skein.Say(6, skein.UserSays("on")))
		return err == nil
	})
	x, err := s.Session(t.Context(), "a")
	if err != nil || x.Title != "test" || x.Messages != 3 || x.Last != 4 {
		t.Errorf("the session is %q with %d messages, ends at %d, %v; want \"test\" with 3, at 4", x.Title, x.Messages, x.Last, err)
	}
}
