// Package sqlite is a [skein.Store] in one SQLite file.
//
// One goroutine writes, on its own connection: in one transaction, it commits what
// has queued up since its last commit (package txn). Readers take connections from a
// pool and hold no transaction between two pages. The tables are described in
// schema/, which is written so that people can use the file with the sqlite3 shell
// too: DELETE FROM messages and DELETE FROM sessions also delete everything that
// belongs to the rows, except what a fork still shows. A message that a fork shows
// stays, silently, until its session is deleted; then it becomes the fork's. What
// triggers cannot do (words in the search index, first words of sessions, free pages)
// is done the next time skein starts.
//
// A file's application_id is 0x536b6531 ("Ske1"), and its user_version is the number
// of its schema; the first release has 1. Files with 0x536b6e31 ("Skn1"), 0x536b6569
// ("Skei") or 0x536b656e ("Sken") are from development builds before that release, and
// are refused.
//
// The search index is not updated by the append but soon after it (index.go).
//
// Beside the file x.db and SQLite's own x.db-wal and x.db-shm there are x.db-locks,
// with the lock files of leases; on systems with kqueue, x.db-wake, with the file
// that commits touch; and, after a migration, x.db.v1.bak, a copy of the file from
// before it.
//
// Nothing here opens the database file other than through SQLite: closing any
// descriptor of a file drops the POSIX locks that the process has on it.
package sqlite
