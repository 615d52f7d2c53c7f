// Package engine calls SQLite: connections, prepared statements, a pool of readers,
// copies of a database page by page, and the errors. It knows nothing of sessions.
//
// It has two drivers: SQLite translated to Go, and, with the build tag cgosqlite,
// SQLite's own C code.
package engine
