package server

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/store/memory"
)

// holding is a store whose Newest holds room for what it returns, as a store on
// disk does.
type holding struct{ skein.Store }

func (h holding) Unwrap() skein.Store { return h.Store }

func (h holding) Newest(ctx context.Context, id skein.SessionID, n int, before skein.Seq) ([]skein.Entry, error) {
	found, err := h.Store.Newest(ctx, id, n, before)
	return found, cmp.Or(err, room.Of(ctx).Take(ctx, int64(sizeOfAll(found))))
}

// A search for messages before many that were taken back holds room only for
// what is found.
func TestWhatIsDroppedIsNotHeld(t *testing.T) {
	s := memory.New()
	t.Cleanup(func() { s.Close() })
	text := strings.Repeat("long ", 20_000)
	evs := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{}), skein.Say(2, skein.UserSays("first"))}
	for i := range 40 {
		evs = append(evs, skein.Say(3, skein.UserSays(fmt.Sprint(i, text))))
	}
	evs = append(evs, skein.NewEvent(skein.KindRewound, 4, skein.Rewound{To: 2}), skein.Say(5, skein.UserSays("last")))
	if _, err := skein.Add(t.Context(), s, "a", evs...); err != nil {
		t.Fatal(err)
	}
	share := room.New(1 << 30).Share()
	list, more, err := newest(room.With(t.Context(), share), holding{s}, "a", 50, 0, false)
	if err != nil || more || len(list) != 2 {
		t.Fatalf("newest = %d messages, more %v, %v; want the 2 that stand", len(list), more, err)
	}
	if most := int64(len(text)); share.Used() > most {
		t.Errorf("after it %d bytes are held, want at most %d", share.Used(), most)
	}
}
