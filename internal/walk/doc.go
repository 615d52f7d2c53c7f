// Package walk works out what a store answers about a part of a session (its
// newest messages, the events that a context needs, what it was set to at a
// place) from few of its events. The rules are the same for every store that
// has an index; each gives the queries, as a [SaidLog] and what builds on it.
package walk
