// Package loose reads the JSON that other programs write: of a duplicate name, the
// last one counts; a lone surrogate is kept; a value that is missing or has another
// type than expected is the zero value. The bytes of values are not changed.
package loose
