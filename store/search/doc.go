// Package search defines what a query means: it parses what a person typed,
// determines which messages match, cuts snippets out of them, and counts the work
// that a search may do. The index is the store's.
package search
