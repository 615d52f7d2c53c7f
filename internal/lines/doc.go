// Package lines reads lines of a stream, however long, without keeping more of a line
// than its caller wants; and lines that are in memory, and the JSON strings in them,
// without another copy.
package lines
