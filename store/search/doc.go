// Package search says what a query means: it reads what a person typed as a
// query, tells which messages match it, cuts snippets out of them, and counts
// the work that a search may do. A store brings the index.
package search
