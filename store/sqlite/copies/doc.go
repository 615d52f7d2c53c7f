// Package copies keeps the list of the copies of a store, and knows the places where
// copies are made.
package copies
