// Package lines reads lines of a stream, however long a stranger made them,
// without holding more of one than its reader wants.
package lines
