// Package traces says how long each request of a server took, and the calls of
// the store in it, as spans of OpenTelemetry. They go to a collector by OTLP over
// HTTP in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp, looked at on
// 2026-11-21): in the background, in batches, and what does not fit a bounded
// queue, or what the collector does not take, is lost and said to be in the log.
//
//	GET /v1/sessions/{id}   a request, by its route; kind server
//	    http.request.method, http.route, http.response.status_code
//	    skein.request.id    as in X-Request-Id and in the log
//	    error.type          the status, from 500 on
//	store.append            a call of the store; kind internal
//	    skein.session       the ID of the session that it is about, if it is one
//	    skein.items         how many it gave or was given
//	    error.type          the error's code, as in a problem of the API
//
// A span says nothing of what was said, looked for or asked for: no path, no
// query, no text, no user. A request that comes with a traceparent of W3C is a
// part of that trace.
package traces
