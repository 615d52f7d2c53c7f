// Package postgres is a [skein.Store] in a PostgreSQL database, version 13 or
// later, for many users and many processes at once.
//
// Every unit of work is one transaction. In the same round trip as its first
// statement, it takes a role and sets the user (conn.go): the role is skein_user,
// to which row security shows only that user's rows, or skein_all. Nothing is set
// on the connection itself, so a connection pooler may be in between.
//
// An append is one statement (fast.go, put.go). It moves the end of the session in
// heads from where this process expects it to the new place, if the lease and the
// client IDs allow it; everything else it writes depends on that row. If the
// expectation was wrong, or something has to be looked up first, the same rows are
// written at the end of a transaction that reads first (appendlocked.go). Appends of
// one process to one session queue up and are written together (queue.go), and the
// statements for several sessions that wait for a connection share one transaction
// (groupcommit.go). The tables are described in schema/; the one row of
// skein_version has the version of the schema.
//
// Reads are paged. Each page is a short transaction that reads the session's row
// first and then uses indexes that begin with the user. A session is deleted by one
// short transaction, after which it cannot be found: the events that forks show
// stay where they are and count as the new parent's (reparent.go, reparented.go),
// and the rest is put into the purge queue and removed in steps (drain.go). A scrub
// runs in steps, too. If a process dies, another one finishes its work
// (maintenance.go).
package postgres
