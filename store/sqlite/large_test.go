package sqlite_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/room"
	"github.com/skein-dev/skein/internal/walk"
)

func TestWhoSharesARoomReadsTheSameInTurn(t *testing.T) {
	s := open(t, t.TempDir()+"/skein.db")
	long := strings.Repeat("a long message ", 3<<20/15)
	events := []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}
	for range 4 {
		events = append(events, skein.Say(1, skein.UserSays(long)))
	}
	blob := skein.NewBlob([]byte(strings.Repeat("a long blob ", 3<<20/12)))
	events = append(events, skein.Say(1, skein.Message{Role: skein.RoleUser, Parts: []skein.Part{{Kind: skein.PartFile, File: &skein.File{Media: "text/plain", Blob: blob.Hash}}}}))
	if _, err := s.Append(t.Context(), skein.Batch{Session: "large", Events: events, Blobs: []skein.Blob{blob}}); err != nil {
		t.Fatal(err)
	}
	full := room.New(1 << 20)
	for name, read := range map[string]func(*room.Share) any{
		"Events": func(sh *room.Share) any {
			all, err := walk.All(s.Events(room.With(t.Context(), sh), "large", 0))
			return []any{all, err}
		},
		"Newest": func(sh *room.Share) any {
			all, err := s.Newest(room.With(t.Context(), sh), "large", 10, 0)
			return []any{all, err}
		},
		"Window": func(sh *room.Share) any {
			all, err := s.Window(room.With(t.Context(), sh), "large", 10)
			return []any{all, err}
		},
		"Window of all": func(sh *room.Share) any {
			all, err := s.Window(room.With(t.Context(), sh), "large", 0)
			return []any{all, err}
		},
		"Blob": func(sh *room.Share) any {
			b, err := s.Blob(room.With(t.Context(), sh), "large", blob.Hash)
			return []any{string(b), err}
		},
		"Feed": func(sh *room.Share) any {
			var all []skein.Fed
			for f, err := range s.Feed(room.With(t.Context(), sh), "") {
				if all = append(all, f); err != nil || len(all) == len(events) {
					return []any{all, err}
				}
			}
			return nil
		},
	} {
		want := read(nil)
		other, mine := full.Share(), full.Share()
		if err := other.Try(2 << 20); err != nil { // so that there is no room for the first try
			t.Fatal(err)
		}
		got := make(chan any)
		go func() { got <- read(mine) }()
		other.LetGo()
		if got := <-got; !reflect.DeepEqual(got, want) {
			t.Errorf("%s with a share of a room is not what it is without", name)
		}
		if holds := mine.Used() >= 3<<20; name != "Events" && name != "Feed" && !holds { // these release what they have returned
			t.Errorf("%s: holds %d bytes when it is done", name, mine.Used())
		}
		if mine.LetGo(); full.Held() != 0 {
			t.Fatalf("%s: %d bytes are held when all is let go", name, full.Held())
		}
	}
}
