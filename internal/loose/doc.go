// Package loose reads the JSON that other programs write: a name that stands
// twice means the last one, a lone surrogate is kept, what is missing or of
// another type than was asked for is the zero value. The bytes of values stay
// as they stand.
package loose
