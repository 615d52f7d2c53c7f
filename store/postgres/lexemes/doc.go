// Package lexemes turns texts into the words of PostgreSQL's full text search, and
// queries into conditions on them: tsvectors and tsqueries. It does no I/O.
package lexemes
