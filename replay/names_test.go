package replay_test

import (
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
)

// What another user has loaded does not keep anybody from loading the same log.
func TestEveryUserMayLoadTheSameLog(t *testing.T) {
	from := memory.New()
	for id, evs := range map[skein.SessionID][]skein.Event{
		"p": {skein.NewEvent(skein.KindCreated, noon, skein.Created{Title: "P"}), skein.Say(noon, skein.UserSays("one")), skein.Say(noon, skein.UserSays("two"))},
		"c": {skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: "p", Seq: 2, Why: skein.Child}}), skein.Say(noon, skein.UserSays("go"))},
	} {
		if _, err := skein.Add(t.Context(), from, id, evs...); err != nil {
			t.Fatal(err)
		}
	}
	fork := skein.NewEvent(skein.KindCreated, noon, skein.Created{Parent: &skein.Parent{Session: "p", Seq: 2, Why: skein.Fork}})
	if _, err := skein.Add(t.Context(), from, "f", fork, skein.Say(noon, skein.UserSays("else"))); err != nil {
		t.Fatal(err)
	}
	all := memory.New()
	for i, who := range []skein.User{"ann", "bob", "eve"} {
		to := all.As(who)
		log := write(t, from, "p", "c", "f")
		done := load(t, to, log)
		for range 2 {
			for _, s := range load(t, to, log).Sessions {
				if s.New != 0 {
					t.Errorf("%s loads %d events of %s once more, want none", who, s.New, s.Session)
				}
			}
			log = write(t, from, "f", "c", "p") // with a different order in the log, too
		}
		for _, s := range done.Sessions {
			if s.For != "" {
				continue
			}
			if s.New != s.Events || (s.Here == s.Session) != (i == 0) {
				t.Errorf("%s has %s as %s with %d of %d events, want all of it, and its own ID only for the first", who, s.Session, s.Here, s.New, s.Events)
			}
			is, err := to.Session(t.Context(), s.Here)
			if err != nil {
				t.Fatal(err)
			}
			want, err := from.Session(t.Context(), s.Session)
			if err != nil || is.Messages != want.Messages || is.Base != want.Base {
				t.Errorf("%s has %+v, %v, want what the log has, %+v", who, is, err, want)
			}
			if is.Parent == nil {
				continue
			}
			if up, err := to.Session(t.Context(), is.Parent.Session); err != nil || up.Title != "P" {
				t.Errorf("%s of %s hangs below %s, %v, want their own", s.Here, who, is.Parent.Session, err)
			}
		}
	}
}
