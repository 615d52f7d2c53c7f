// Package skeinlog imports sessions from skein's own logs: files that "skein export
// --to skein" wrote, here or on another machine.
//
// A log holds events unchanged, with their seqs, client IDs and blobs; package replay
// documents the format byte by byte. So nothing is translated: a new session is
// stored exactly as it was exported; to an existing one, what is new is added; one
// that has diverged in two places is left as it is and reported. There are no source
// records: exporting the session again gives the same log.
//
// Logs have no usual place. Any file whose name ends in .jsonl and that begins with a
// log's header is one.
package skeinlog
