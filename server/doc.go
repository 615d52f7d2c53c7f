// Package server is the HTTP API of a Store: everything that the library can
// do, under /v1, for programs in any language. [Routes] returns the routes for
// a door, which lets in only those who may, and says who they are.
//
// The OpenAPI document at /v1/openapi.json is made from the same Go types that
// requests are decoded into; /v1/docs is the same for people, and loads nothing
// from other hosts. Requests that the document does not allow are answered with
// 400; package door has the other statuses. What goes over the wire along with
// the bytes of events is in package api. The routes under /v1/store are a
// [skein.Store] for package remote, call by call; all others are for everybody.
//
// # Idempotency
//
// An Idempotency-Key becomes client IDs, made from the user and the key, and
// the ID of a session that is begun: the store remembers them, so they hold
// after a restart and for all servers on a store. The same key with another
// body is 422, even if both arrive at the same moment; so is the same key for
// another operation on the same session. In a batch, the events without a
// client ID get one from the key, which stands for all of them: a longer batch
// that begins with the same events is another body.
//
// # Versions
//
// The ETag of a session covers its last seq, its revision, whether it is in the
// bin, and who holds its lease. If-Match ignores the lease, so that a session
// can get a title while an agent works on it.
//
// # Streams
//
// All readers of /v1/stream share one reader of the store, as do those who
// follow the same session: see hub. A reader that comes back with an ID that
// the hub still has resumes from there; one that is further behind first reads
// by itself. What waits for a reader is bounded; a reader that is too slow is
// dropped, with a problem of code slow if it can still be sent, and may come
// back.
//
// # Who may destroy
//
// A token of one user with the scope write may purge that user's sessions. A
// token that sees everybody's sessions needs the scope admin for that.
//
// # Secrets
//
// What looks like a secret is removed from every answer, and filters and
// searches see only what is left, so that nobody can guess a secret: see
// [redact.Redactor.Veil]. With raw=1, for tokens with the scope read:raw,
// secrets stay in. The exports skein and source, and the routes under
// /v1/store, are exact, and need that scope.
package server
