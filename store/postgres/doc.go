// Package postgres is a [skein.Store] in a PostgreSQL database, version 13 or
// later, for many users and many processes at once.
//
// Every unit of work is one transaction that begins, in the same round trip as
// its first statement, by taking the role and the user for whom it is done
// (conn.go): skein_user, to whom row security shows what is that user's, or
// skein_all. Nothing is set on the connection itself, so that it may be a
// pooler's.
//
// An append is one statement (fast.go): it moves the session's row in heads
// from the end that this process believes in to the new one, under the
// conditions of the lease and the client IDs, and what it writes follows from
// that row. Where the belief was wrong, or something has to be looked up first,
// the same rows are written at the end of a transaction that has looked
// (slow.go). Appends of one process to one session queue up and are written
// together (queue.go), and the statements of several sessions that wait for a
// connection share one transaction (lanes.go). The tables are described in schema/; the
// one row of skein_schema has the number of theirs.
//
// A read goes in pages, each a short transaction that begins with the session's
// row and goes on by indexes that begin with the user. A session is deleted by
// one short transaction, from which on nobody finds it: what forks show of it
// stays where it is and counts as the heir's (estate.go, heirs.go), the rest is
// doomed and taken away in steps (drain.go). A scrub goes in steps too. What a
// process leaves undone that dies, another one does (chores.go).
package postgres
