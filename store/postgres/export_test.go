package postgres

// PutSQL returns the statement of the usual append.
func PutSQL() string { return newPutSQL()[putKind{}] }

// SetPut is the statement that begins its transaction.
const SetPut = setPut

// Slow returns how many appends of s had to read first, and how many transactions were
// retried.
func Slow(s *Store) (slow, again int64) { return s.slow.Load(), s.retries.Load() }
