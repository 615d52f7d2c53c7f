// Package walk computes what a store answers about a part of a session (its newest
// messages, the events that a context needs, its settings at a seq) from few of its
// events. The rules are the same for every store that has an index; each store
// implements the queries, as a [SaidLog] and the interfaces that build on it.
package walk
