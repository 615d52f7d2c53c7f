// Package lines reads lines of a stream, however long a stranger made them,
// without holding more of one than its reader wants; and lines that are in memory,
// and the strings of JSON in them, without another copy.
package lines
