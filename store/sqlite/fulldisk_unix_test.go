//go:build unix

package sqlite_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/sqlite"
)

// On a disk without a byte left, sessions can still be deleted, which frees
// room, however small the store is.
func TestDeletingMakesRoomOnAFullDisk(t *testing.T) {
	sizes := []struct{ messages, words, indexed int }{
		{2000, 80, 0}, {8, 8000, 0}, {8, 8000, 2}, {1, 8000, 1}, {40, 8000, 2}, {40, 8000, 9}, {160, 8000, 0}, {160, 8000, 6}, {2000, 1, 9},
	}
	if testing.Short() {
		sizes = sizes[:3]
	}
	for _, c := range sizes {
		t.Run(fmt.Sprintf("%d of %d words, %d steps of the index", c.messages, c.words, c.indexed), func(t *testing.T) {
			deletesOnAFullDisk(t, c.messages, c.words, c.indexed)
		})
	}
}

// deletesOnAFullDisk deletes one of two sessions with the given number of messages of
// size words each, after so many steps of the indexer.
func deletesOnAFullDisk(t *testing.T, messages, size, indexed int) {
	dir := smallDisk(t, "200m") // for the store, its log and a reserve
	name := filepath.Join(dir, "x.db")
	s, err := dial(name)
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "stays", created(), user("some text"))
	r := rand.New(rand.NewPCG(1, 2))
	for _, id := range []skein.SessionID{"large", "too"} {
		batch := []skein.Event{created()}
		for range messages {
			words := make([]string, size)
			for i := range words {
				words[i] = strconv.FormatUint(r.Uint64N(1<<36), 36)
			}
			e := user(strings.Join(words, " "))
			e.ClientID = skein.ClientID(words[0])
			batch = append(batch, e)
		}
		for some := range slices.Chunk(batch, max(1, 8000/size/100)) {
			add(t, s, id, some...)
		}
	}
	for range indexed {
		if err := sqlite.FeedStep(s.(*sqlite.Store)); err != nil {
			t.Fatal(err)
		}
	}
	sqlite.CloseFor(s.(*sqlite.Store), 1) // as on a busy machine: no more is indexed
	shut(t, s)
	was, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	fillDisk(t, dir, "fill")
	s, err = dial(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := skein.Add(t.Context(), s, "stays", user("more")); !errors.Is(err, skein.ErrFull) {
		t.Errorf("Append on a full disk = %v, want %v", err, skein.ErrFull)
	}
	if _, err := skein.LifecycleOf(s).Delete(t.Context(), "large", skein.Deletion{}); err != nil {
		t.Fatalf("Delete on a full disk = %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.(skein.Sweeper).Swept(t.Context()); err != nil {
		t.Fatalf("Swept after it = %v", err)
	}
	if is, err := os.Stat(name); err != nil || is.Size() > was.Size()-int64(messages*size*4) {
		t.Errorf("after a deletion the file has %d bytes, %v, of %d", is.Size(), err, was.Size())
	}
	add(t, s, "stays", user("more"))
	if !sqlite.Feed(s.(*sqlite.Store)) {
		t.Error("what stays is indexed while the disk is nearly full, want the room left for deleting")
	}
	if n := len(events(t, s, "stays")); n != 3 {
		t.Errorf("the other session has %d events, want 3", n)
	}

	// The freed room is filled too, and the next deletion frees more.
	sqlite.KeepReserve(s.(*sqlite.Store))
	fillDisk(t, dir, "again")
	if _, err := skein.LifecycleOf(s).Delete(t.Context(), "too", skein.Deletion{}); err != nil {
		t.Errorf("Delete on the disk that is full again = %v", err)
	}
	if err := s.(skein.Sweeper).Swept(t.Context()); err != nil {
		t.Errorf("Swept after it = %v", err)
	}
	for _, fill := range []string{"fill", "again"} {
		if err := os.Remove(filepath.Join(dir, fill)); err != nil {
			t.Fatal(err)
		}
	}
	sqlite.KeepReserve(s.(*sqlite.Store))
	if sqlite.Feed(s.(*sqlite.Store)) {
		t.Error("with room again, events wait for the index, want none")
	}
	shut(t, s)
}

// What is appended needs room in the log and then in the file. If there is room for one
// of them only, the append is refused: otherwise the log would keep the last room, and
// nothing could be deleted any more.
func TestAnAppendThatFitsOnlyIntoTheLogIsRefused(t *testing.T) {
	dir := smallDisk(t, "32m")
	s, err := dial(filepath.Join(dir, "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, "large", created(), user(random(1<<20)))
	add(t, s, "stays", created(), user("some text"))
	shut(t, s)
	fillDisk(t, dir, "fill")
	fill, err := os.Stat(filepath.Join(dir, "fill"))
	if err == nil {
		err = os.Truncate(filepath.Join(dir, "fill"), fill.Size()-3<<20)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s, err = dial(filepath.Join(dir, "x.db")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := skein.Add(t.Context(), s, "stays", user(random(2<<20))); !errors.Is(err, skein.ErrFull) {
		t.Errorf("appending 2 MiB with room for 3 MiB = %v, want %v", err, skein.ErrFull)
	}
	fillDisk(t, dir, "again")
	if _, err := skein.LifecycleOf(s).Delete(t.Context(), "large", skein.Deletion{}); err != nil {
		t.Errorf("Delete on a full disk = %v", err)
	}
	if err := s.(skein.Sweeper).Swept(t.Context()); err != nil {
		t.Errorf("Swept after it = %v", err)
	}
	add(t, s, "stays", user("more"))
	if n := len(events(t, s, "stays")); n != 3 {
		t.Errorf("the other session has %d events, want 3", n)
	}
	shut(t, s)
}

// random returns a text of n bytes that no compression makes much shorter.
func random(n int) string {
	b := make([]byte, n/2)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return hex.EncodeToString(b)
}

func TestTheReserveIsNotMadeAgainBeforeItsRoomIsUsed(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "x.db"))
	sqlite.KeepReserve(s)
	size := func() int64 {
		st, err := os.Stat(sqlite.Reserve(s))
		if errors.Is(err, fs.ErrNotExist) {
			return 0
		}
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	whole := size()
	want := []int64{whole, whole / 2, 0} // at each try
	tries := 0
	err := sqlite.MakingRoom(t.Context(), s, func() error {
		sqlite.KeepReserveMeanwhile(s)
		if is := size(); is != want[tries] {
			t.Errorf("at try %d, the reserve has %d bytes, want %d", tries+1, is, want[tries])
		}
		if tries++; tries < len(want) {
			return skein.ErrFull
		}
		return nil
	})
	if err != nil || tries != len(want) {
		t.Errorf("making room took %d tries and ended with %v, want %d and no error", tries, err, len(want))
	}
	sqlite.KeepReserve(s)
	if is := size(); is != whole {
		t.Errorf("the reserve is made again with %d bytes, want %d", is, whole)
	}
}
