// Package columns says how the rows of sessions and events hold a session and an
// event, with the checksums that are compared when they are read.
package columns
