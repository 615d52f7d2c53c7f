// Bench measures what skein costs beside the same work done without it, in the
// same run on the same machine, and prints one table: appends beside a plain
// file that is fsynced line by line, queries beside the bare driver, whole
// commands beside the sqlite3 shell. It never fails for being slow: numbers
// are for people to read.
//
//	go run . -size short            a minute or two
//	go run . -size full             millions of messages, a gigabyte of transcripts
//	go run . -only append -profile .   writes CPU profiles, one for each row
//
// It is a module of its own, so that what it needs to compare with does not
// become something that skein needs.
package main
