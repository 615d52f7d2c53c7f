package postgres

import "context"

// PutSQL returns the statement of the usual append.
func PutSQL() string { return newPutSQL()[putKind{}] }

// SetPut is the statement that goes with it.
const SetPut = setPut

// SchemaVersion is its third parameter.
const SchemaVersion = schemaVersion

// Slow returns how many appends of s had to look first, and how many
// transactions were run again.
func Slow(s *Store) (slow, again int64) { return s.slow.Load(), s.retries.Load() }

// DoChores does what other processes have left, and what is older than this version.
func (s *Store) DoChores(ctx context.Context) error { return s.doChores(ctx) }
