// Package transfer brings sessions from one store to another: a whole store to a
// new place ([Copy]), or what is new between two stores that both go on
// ([Send]).
//
// Copy appends the events in the order in which the first store was given
// them, so that forks come after their parents and what was paid is counted at
// the same session, then source records, bins and tombstones, and compares
// both stores in the end. Each event is appended to the place that it has:
// what was interrupted anywhere goes on where it stopped, and nothing is
// stored twice.
//
// Send compares sessions event by event from the place where they may have
// parted, appends what one side lacks, and makes a fork of what cannot be
// appended, because the other side went on by itself.
package transfer
