package sqlite_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite"
)

// If a batch is too large to be packed at once, each event is released once it
// is written.
func TestALargeBatchIsToldWhereItsEventsAre(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "skein.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := skein.Batch{Session: "a", Events: []skein.Event{skein.NewEvent(skein.KindCreated, 1, skein.Created{})}}
	for range 9 {
		b.Events = append(b.Events, skein.Say(1, skein.UserSays(strings.Repeat("x", 4<<20))))
	}
	got, err := s.Append(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if want := []skein.Seq{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(got[0].Seqs, want) {
		t.Errorf("Append of 36 MB is told the places %v, want %v", got[0].Seqs, want)
	}
}
