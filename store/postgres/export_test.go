package postgres

// PutSQL returns the statement of the usual append.
func PutSQL() string { return newPutSQL()[putKind{}] }

// SetPut is the statement that goes with it.
const SetPut = setPut

// Slow returns how many appends of s had to look first, and how many
// transactions were run again.
func Slow(s *Store) (slow, again int64) { return s.slow.Load(), s.retries.Load() }
