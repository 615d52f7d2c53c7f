// Package skeinlog brings sessions in from skein's own logs: files that
// "skein export --to skein" wrote, here or on another machine.
//
// A log holds events as they are, with their places, client IDs and blobs;
// package replay says how, byte by byte. So nothing is translated: a session
// that is not there is stored as it was, equal to the one that was exported;
// of one that is there, what is new is added; one that has gone on in two
// places in different ways is left as it is and named. There are no source
// records: exporting it again gives the same log.
//
// Logs have no usual place. Any file whose name ends in .jsonl and that begins
// with the head of a log is one.
package skeinlog
