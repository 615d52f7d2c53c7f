package sqlite

import (
	"context"
	"time"

	"github.com/skein-dev/skein/store/sqlite/engine"
	"github.com/skein-dev/skein/store/sqlite/purge"
	"github.com/skein-dev/skein/store/sqlite/txn"
)

// DriverName is the driver's name, which tests need to open the file.
const DriverName = engine.DriverName

// Within runs f in the middle of a write transaction.
func Within(s *Store, f func()) error {
	return s.change(context.Background(), func(*txn.Tx) error {
		f()
		return nil
	})
}

// CloseFor sets how long Close waits for others that use the file.
func CloseFor(s *Store, d time.Duration) { s.closeFor = d }

// Owe adds a sweep to the purge queue.
func Owe(s *Store) error {
	return s.change(context.Background(), func(t *txn.Tx) error { return purge.Owe(t) })
}

// TryAgain makes the next write check at once whether a full disk has room.
func TryAgain(s *Store) {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.tried = time.Time{}
}

// EmptyLog checkpoints and truncates the log.
func EmptyLog(s *Store) (emptied bool, err error) { return s.disk.emptyLog() }

// Feed feeds the index as in a pause, and reports whether events are still
// waiting for it.
func Feed(s *Store) (behind bool) {
	s.index.pause()
	return s.behind(context.Background(), ofWords())
}

// MakingRoom runs do as what frees room on the disk.
func MakingRoom(ctx context.Context, s *Store, do func() error) error {
	return s.disk.makingRoom(ctx, do)
}

// Reserve returns the path of the reserve.
func Reserve(s *Store) string { return s.disk.reserve() }

// KeepReserveMeanwhile creates the reserve as maintenance does, while others may be using
// its room.
func KeepReserveMeanwhile(s *Store) { s.disk.keepReserve() }

// KeepReserve creates the reserve if there is room for it, once nobody uses its room.
func KeepReserve(s *Store) {
	s.disk.freeing.Lock()
	defer s.disk.freeing.Unlock()
	s.disk.renewReserve()
}

// FeedStep indexes what one step of the background indexer does.
func FeedStep(s *Store) error {
	_, err := s.feedSome(context.Background(), ofWords())
	return err
}
