// Package main loads a server on this machine as many clients would, and says
// what that cost, beside what it is to cost at most:
//
//	cd bench && go run ./load -sessions 100000 -seconds 10
//
// It makes a store of its own in a temporary folder, starts skein serve on it,
// and asks it over loopback: appends over 64 connections; pages of lists, a
// session and searches, one after the other; 1,000 readers of the stream of
// everything, while 100 messages a second come in; and a stop with all of that
// under way. With -store DIR the store is made once, kept there, and copied by
// later runs. Client and server share the processors: figures are the client's.
package main
