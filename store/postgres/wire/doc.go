// Package wire talks to PostgreSQL: addresses and connections, statements that share a
// round trip, transactions and their errors. Each transaction has the role of a user or
// that of all users. The package knows no tables but the version of the schema.
package wire
