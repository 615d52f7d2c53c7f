// Package purge removes deleted sessions from the tables of SQLite, step by step, and
// keeps their tombstones.
package purge
