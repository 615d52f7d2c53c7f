// Package server is the HTTP API of a Store: everything that the library can
// do, under /v1, for programs in any language. [Routes] gives the routes to a
// door; it has let in only who may by then, and says who it is.
//
// The OpenAPI document at /v1/openapi.json is made from the same Go types that
// requests are read into. Requests that it does not allow are answered with
// 400; package door has the other statuses. What goes over the wire with the
// bytes of events is in package api.
package server
