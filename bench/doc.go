// Bench measures the cost of skein relative to the same work done without it,
// in the same run on the same machine, and prints one table: appends next to a
// plain file with an fsync after every line, queries next to the bare driver,
// whole commands next to the sqlite3 shell. It never fails for being slow: the
// numbers are for people to read. Two experiments do not depend on time, and the test of
// this package fails if a bound of theirs does not hold: the program's memory, and
// what the ten most used paths allocate and write.
//
//	go run . -size short            a minute or two
//	go run . -size full             millions of messages, a gigabyte of transcripts
//	go run . -only append -profile .   writes CPU profiles, one for each row
//
// It is a separate module, so that skein does not depend on what bench compares
// it with.
package main
