// Package hits is one search of SQLite: what the full-text index finds, from the newest
// message back, and what is not indexed, or cannot be. A search takes place in the part
// of a store that a [View] describes.
package hits
