// Package lenient reads a store around its damage, for readers: a stand-in is
// shown in the place of what cannot be read.
package lenient
