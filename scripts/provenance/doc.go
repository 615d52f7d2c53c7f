// Command provenance measures how well skein blame knows the sessions of a repository
// whose commits name theirs:
//
//	go run ./scripts/provenance [-skein PROGRAM] REPOSITORY
//
// REPOSITORY is a repository in which commits have trailers "Entire-Checkpoint: <12
// hexadecimal digits>", and the branch entire/checkpoints/v1 has, for each of them, a
// folder with the sessions' transcripts. It is cloned, the longest transcript of each
// session is imported into a new store, and the answer for every line of every file is
// compared with the sessions that its commit names.
package main
