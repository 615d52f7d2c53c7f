// Package remote is a [skein.Store] that a server keeps: skein serve, over HTTP.
// Every promise of the Store holds through it, with these notes about the effects
// of a network:
//
//   - An append whose response was lost returns [skein.ErrUnknown]. If all of its
//     events have client IDs, it is sent again automatically, and so settled.
//   - An append or a read that the server did not begin with, because it is busy or
//     cannot be reached, is sent again, after the time that the server asks for.
//   - A caller that gives up ends an append only as long as it was not sent.
//     After that, the client waits a while for the response.
//   - A lease that this process holds "for as long as it lives" has an end at
//     the server, which is renewed repeatedly: after a crash it is held for at
//     most [Options].Lease.
//   - Watches and feeds that break off resume where they were.
//
// The requests and responses are in package api; the server's side is in package
// server, under /v1/store.
package remote
