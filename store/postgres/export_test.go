package postgres

import (
	"github.com/skein-dev/skein/store/postgres/wire"
)

// PutSQL returns the statement of the usual append.
func PutSQL() string { return newPutSQL()[putKind{}] }

// SetPut is the statement that begins its transaction.
const SetPut = wire.SetPut

// Slow returns how many appends of s had to read first, and how many transactions were
// retried.
func Slow(s *Store) (slow, again int64) { return s.slow.Load(), s.retries.Load() }
