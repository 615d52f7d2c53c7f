// Package server is the HTTP API of a Store: everything that the library can
// do, under /v1, for programs in any language. [Routes] gives the routes to a
// door; it has let in only who may by then, and says who it is.
//
// The OpenAPI document at /v1/openapi.json is made from the same Go types that
// requests are read into; /v1/docs is the same for people, without anything
// from elsewhere. Requests that it does not allow are answered with 400;
// package door has the other statuses. What goes over the wire with the bytes
// of events is in package api. The routes under /v1/store are a [skein.Store]
// for package remote, call by call; all others are for everybody.
//
// # Writing again
//
// An Idempotency-Key becomes client IDs, made of the user and the key, and the
// ID of a session that is begun: the store remembers them, so that they hold
// after a restart and for all servers on a store. The same key with another
// body is 422, also if both come at the same moment; so is the same key for
// another operation on the same session. Of a batch of events, those without a
// client ID get one of the key: it stands for all of them, so one that is longer
// and begins the same is another body.
//
// # Versions
//
// The ETag of a session is where it ends, its revision and whether it is in the
// bin, and who holds its lease; If-Match does not compare the last, so that a
// title can be given while an agent works.
//
// # Streams
//
// All readers of /v1/stream share one reading of the store, as do those who
// follow the same session: see hub. Who comes back with an ID that the hub
// still has goes on from there, who is further behind reads by itself first.
// What waits for a reader is bounded; one that is too slow is dropped, with a
// problem of code slow if there is still a way to tell it, and may come back.
//
// # Who may destroy
//
// A token of one user with the scope write may purge that user's sessions. A
// token that sees everybody's needs the scope admin for that.
//
// # Secrets
//
// What looks like a secret is taken out of every answer, and what is asked goes
// by what is left, so that nobody finds it out: see [redact.Redactor.Veil]. With
// raw=1, for tokens with the scope read:raw, it stays in. The exports skein and
// source, and the routes under /v1/store, are exact, and need that scope.
package server
