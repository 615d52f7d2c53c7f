// Package metrics counts what a server does, and tells it in Prometheus' text
// format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/,
// looked at on 2026-11-21). Nothing is counted before [New], and nothing runs in
// the background.
//
//	skein_http_requests_total{route,status}  requests that were answered
//	skein_http_request_seconds{route}        how long they took, as a histogram
//	skein_streams_open                       streams that are open
//	skein_index_waiting_events               events that the search index does not have yet
//	skein_index_lag_seconds                  since the oldest of them was stored; 0 if none waits
//	skein_store_bytes                        size of the store on disk
//	skein_up_seconds                         since the server began
//	go_goroutines, go_heap_bytes             of the process
//
// Routes are named by their patterns, never by the path that was asked for: the
// numbers say nothing of who or what.
package metrics
