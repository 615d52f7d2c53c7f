// Package traces records how long each request of a server took, and the store
// calls in it, as OpenTelemetry spans. They go to a collector by OTLP over HTTP
// in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp, read on
// 2026-11-21), in the background and in batches. Spans that do not fit into a
// bounded queue, or that the collector does not accept, are lost; the log says
// so.
//
//	GET /v1/sessions/{id}   a request, by its route; kind server
//	    http.request.method, http.route, http.response.status_code
//	    skein.request.id    as in X-Request-Id and in the log
//	    error.type          the status, from 500 on
//	store.append            a call of the store; kind internal
//	    skein.session       the ID of the session, if the call is about one
//	    skein.items         how many items it returned or received
//	    error.type          the error's code, as in a problem of the API
//
// A span contains nothing that was said, searched or requested: no path, no
// query, no text, no user. A request with a W3C traceparent becomes part of
// that trace.
package traces
