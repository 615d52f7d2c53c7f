// Package discover finds out what there is to read: which format knows a file, which
// files belong to one unit, which of them the store knows already and which have
// changed. A [Planner] picks what an import is to read, [KnownFiles] are the files that
// the store knows, and [Find] only counts.
package discover
