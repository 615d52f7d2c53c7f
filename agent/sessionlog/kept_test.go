package sessionlog_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
)

// A damagedStore is a store in which the event at seq cannot be read.
type damagedStore struct {
	skein.Store
	seq skein.Seq
}

func (s damagedStore) Unwrap() skein.Store { return s.Store }

func (s damagedStore) Events(ctx context.Context, id skein.SessionID, after skein.Seq) iter.Seq2[skein.Event, error] {
	return func(yield func(skein.Event, error) bool) {
		for e, err := range s.Store.Events(ctx, id, after) {
			if e.Seq == s.seq {
				yield(skein.Event{}, &skein.DamagedError{Seq: e.Seq, Kind: e.Kind, Time: e.Time, Err: errors.New("checksum")})
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// TestALogKeepsWhatIsDamagedInTheStore continues a session after each of its events was
// damaged, with its log as it was, cut, and to be rewritten: the log may be the only place
// that still has the text.
func TestALogKeepsWhatIsDamagedInTheStore(t *testing.T) {
	for seq := range skein.Seq(len(thread())) {
		for what, spoil := range map[string]func(log string) string{
			"as it was":  func(log string) string { return log },
			"torn":       func(log string) string { return log + `{"torn":` },
			"altered":    func(log string) string { return strings.Replace(log, "thanks", "altered", 1) },
			"cut behind": func(log string) string { return log[:strings.LastIndex(log, `{"ts"`)+9] },
		} {
			p := newPlace(t)
			if err := sessionlog.New(p.dir, p.store).Append(t.Context(), "s1", p.add("s1", thread()...)...); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p.file("s1"), []byte(spoil(p.read("s1"))), 0o600); err != nil {
				t.Fatal(err)
			}
			more := p.add("s1", skein.Say(noon, skein.UserSays("more")))
			want := p.whole("s1")
			l := sessionlog.New(p.dir, damagedStore{p.store, seq + 1})
			if err := l.Append(t.Context(), "s1", more...); err != nil {
				t.Fatal(err)
			}
			switch n := seq + 1; {
			case n == skein.Seq(len(thread())) && what == "cut behind":
				continue // the log did not have all of it either
			case n <= 9 && what == "altered": // from event 9 on, nothing tells that it was altered
				want = strings.Replace(want, "thanks", "altered", 1)
			}
			if got := p.read("s1"); got != want {
				t.Errorf("a log, %s, continued after event %d was damaged is\n%s\nwant\n%s", what, seq+1, got, want)
			}
		}
	}
}
