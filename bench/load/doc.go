// Package main loads a server on this machine like many clients, and reports
// the cost next to its goal:
//
//	cd bench && go run ./load -sessions 100000 -seconds 10
//
// It creates a store in a temporary folder, starts skein serve on it, and sends
// requests over loopback: appends over 64 connections; pages of lists, a
// session and searches, one after the other; 1,000 readers of the stream of all
// events, while 100 messages per second arrive; and a stop with all of that
// under way. With -store DIR the store is created once, kept there, and copied
// by later runs. Client and server share the processors: the figures are the
// client's.
package main
