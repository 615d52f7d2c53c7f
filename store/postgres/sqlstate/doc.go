// Package sqlstate names PostgreSQL's error codes, and tells which errors say that the
// server cannot be reached.
package sqlstate
