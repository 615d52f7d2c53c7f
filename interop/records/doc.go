// Package records reads a source as its records and what the format's reader makes of
// each: a [ReadRecord]. A [FileJob] is a file, or a source of a unit, that is to be read,
// with what the store knows about it; [FileJob.Produce] hands it over in chunks, each of
// which fits into one transaction.
//
// It also has what the reading and the writing of a source share: the state that the
// store keeps for a source ([FileState]), the list of the records that skein wrote
// itself ([Echoes]), the log of what a sync is about to write ([Intent]), the side file
// beside a source ([SideHead]), and the right to work on a source ([Hold]).
package records
