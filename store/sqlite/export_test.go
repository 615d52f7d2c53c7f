package sqlite

import (
	"context"
	"time"
)

// DriverName is what tests must know of the file.
const DriverName = driverName

// Within runs f in the midst of a transaction that writes.
func Within(s *Store, f func()) error {
	return s.change(context.Background(), func(*tx) error {
		f()
		return nil
	})
}

// CloseFor sets how long Close waits for others who have the file.
func CloseFor(s *Store, d time.Duration) { s.closeFor = d }

// Owe leaves something to do when nobody waits.
func Owe(s *Store) error {
	return s.change(context.Background(), func(t *tx) error { return t.owe() })
}

// TryAgain makes the next write look at once whether a full disk has room.
func TryAgain(s *Store) {
	s.opening.Lock()
	defer s.opening.Unlock()
	s.tried = time.Time{}
}

// EmptyLog moves the log to the database.
func EmptyLog(s *Store) (emptied bool, err error) { return s.emptyLog() }

// Feed feeds the index as in a pause, and reports whether events wait for it
// still.
func Feed(s *Store) (behind bool) {
	s.index.pause()
	return s.behind(context.Background())
}

// KeepReserve makes the reserve if there is room for it.
func KeepReserve(s *Store) { s.keepReserve() }
