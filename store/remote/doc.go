// Package remote is a [skein.Store] that a server keeps: skein serve, over HTTP.
// Every promise of the Store holds through it, with these words about what a
// network does to them:
//
//   - An append whose answer was lost returns [skein.ErrUnknown]. One whose
//     events all have client IDs is sent again by itself, and so settled.
//   - A caller that gives up ends an append only as long as it was not sent.
//     After that the answer is waited for, for a while.
//   - A lease that this process holds "for as long as it lives" has an end at
//     the server, which is moved on again and again: after a crash it is held
//     for [Options].Lease, no longer.
//   - Watches and feeds that break off are taken up where they were.
//
// The requests and answers are in package api; the server's side is in package
// server, under /v1/store.
package remote
