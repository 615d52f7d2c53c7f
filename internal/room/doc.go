// Package room limits how many bytes independent users of memory, such as the
// requests of a server, hold together.
package room
