package transfer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/memory"
	"github.com/skein-dev/skein/store/transfer"
)

func keyed(key string) skein.Created { return skein.Created{Key: key} }

// If a live session of the user has the key there, it keeps the key. The session that
// arrives has no key, whether it got its key with its first event or later, and the
// report says so.
func TestCopyAndSendLeaveTakenKeysBehind(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := func(k string) skein.Event {
				return skein.NewEvent(skein.KindChanged, 9_000, skein.Changed{Key: new(k)})
			}
			x, y, z := open(t), open(t), open(t)
			put(t, x, skein.Batch{Session: "mine", Events: begun(keyed("cli:api"), 1)})
			put(t, x, skein.Batch{Session: "later", Events: append(begun(skein.Created{}, 1), key("cli:web"))})
			put(t, x, skein.Batch{Session: "free", Events: begun(keyed("cli:free"), 1)})
			for _, s := range []skein.Store{y.As("ann"), z.As(skein.Local)} {
				put(t, s, skein.Batch{Session: "api", Events: begun(keyed("cli:api"), 1)})
				put(t, s, skein.Batch{Session: "web", Events: begun(keyed("cli:web"), 1)})
			}
			for range 2 {
				r, err := transfer.Copy(t.Context(), x, y, toAnn)
				if err != nil || !r.Same() {
					t.Fatalf("Copy = %+v, %v; %s", r, err, cmp.Diff(r.From, r.To))
				}
				if d := cmp.Diff(map[skein.SessionID]string{"mine": "cli:api", "later": "cli:web"}, r.Keyless); d != "" {
					t.Errorf("Copy tells these keys as left behind (-want +got):\n%s", d)
				}
			}
			told := send(t, x, z)
			for id, want := range map[skein.SessionID]bool{"mine": true, "later": true, "free": false} {
				if told[id].Keyless != want {
					t.Errorf("Send tells of %s that its key was left behind: %v, want %v", id, told[id].Keyless, want)
				}
			}
			want := map[skein.SessionID]string{"mine": "", "later": "", "free": "cli:free", "api": "cli:api", "web": "cli:web"}
			for what, s := range map[string]skein.Store{"Copy": y.As("ann"), "Send": z.As(skein.Local)} {
				got := map[skein.SessionID]string{}
				for s, err := range s.Sessions(t.Context(), skein.Filter{}) {
					do(t, err)
					got[s.ID] = s.Key
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("keys after %s (-want +got):\n%s", what, d)
				}
			}
			says(t, x, "mine", "more")
			if r, err := transfer.Copy(t.Context(), x, y, toAnn); err != nil || !r.Same() || r.Stored != 1 {
				t.Errorf("Copy of what went on = %+v, %v, want one event more", r, err)
			}
		})
	}
}

// A call names the session that it started: where that one gets another ID, the call
// names that.
func TestSendNamesStartedSessionsByTheirIDsThere(t *testing.T) {
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, y := open(t), open(t)
			put(t, x, skein.Batch{Session: "plain", Events: begun(skein.Created{}, 1)})
			put(t, x, skein.Batch{Session: "child", Events: begun(skein.Created{Parent: &skein.Parent{Session: "plain", Seq: 2, Why: skein.Child, Call: "x"}}, 2)})
			put(t, x, skein.Batch{Session: "plain", Events: []skein.Event{
				skein.NewEvent(skein.KindTool, 5_000, skein.ToolState{Call: "x", State: skein.Completed, Child: "child"}),
			}})
			says(t, x, "plain", "after it")
			for _, id := range []skein.SessionID{"plain", "child"} {
				put(t, y.As("bob"), skein.Batch{Session: id, Events: begun(skein.Created{Title: "bob's"}, 1)})
			}
			ann := y.As("ann")
			var order []skein.SessionID
			err := transfer.Send(t.Context(), x, ann, transfer.Sending{}, func(o transfer.Sent) error {
				order = append(order, o.Session)
				return o.Err
			})
			if err != nil || !cmp.Equal(order, []skein.SessionID{"plain", "child"}) {
				t.Errorf("Send tells of %v, %v, want plain, then child", order, err)
			}
			plain, child := skein.SessionID("plain").Other(0), skein.SessionID("child").Other(0)
			if got := started(t, ann, plain); got != child {
				t.Errorf("the call started session %s, want %s", got, child)
			}
			if s, err := ann.Session(t.Context(), child); err != nil || s.Parent == nil || s.Parent.Session != plain {
				t.Errorf("Session(%s) = %+v, %v, want the parent %s", child, s, err, plain)
			}
			if again := send(t, x, ann); len(again) != 0 {
				t.Errorf("Send again = %v, want nothing new", again)
			}
			says(t, x, "plain", "more")
			if again := send(t, x, ann); len(again) != 1 || again["plain"].What != transfer.Grown || again["plain"].Events != 1 {
				t.Errorf("Send of what went on = %v, want one event more", again)
			}
			says(t, ann, plain, "from there")
			if back := send(t, ann, x); len(back) != 1 || back[plain].To != "plain" || back[plain].What != transfer.Grown {
				t.Errorf("Send back = %v, want one event more for plain", back)
			}
			if got := started(t, x, "plain"); got != "child" {
				t.Errorf("after the way back the call started session %s, want child", got)
			}
			z := memory.New()
			if back := send(t, ann, z); back[plain].To != "plain" || started(t, z, "plain") != "child" {
				t.Errorf("Send to a third store = %v, where the call started %s; want plain, and child", back, started(t, z, "plain"))
			}
		})
	}
}
