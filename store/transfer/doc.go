// Package transfer copies sessions from one store to another: a whole store to a
// new place ([Copy]), or what is new between two stores that both go on
// ([Send]).
//
// Copy appends the events in the order in which they were appended to the first
// store, so that forks come after their parents and usage is counted at the same
// session, then source records, bins and tombstones, and compares both stores in
// the end. Each event is appended at its own seq: an interrupted run continues
// where it stopped, and nothing is stored twice.
//
// Send compares sessions event by event from the point where they may have
// diverged, appends what one side lacks, and makes a fork of what cannot be
// appended because the other side went on by itself.
package transfer
