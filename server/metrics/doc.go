// Package metrics counts what a server does, and reports it in Prometheus' text
// format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/,
// read on 2026-11-21). Nothing is counted before [New], and nothing runs in the
// background.
//
//	skein_http_requests_total{route,status}  answered requests
//	skein_http_request_seconds{route}        how long they took, as a histogram
//	skein_streams_open                       open streams
//	skein_index_waiting_events               events that are not in the search index yet
//	skein_index_lag_seconds                  time since the oldest of them was stored; 0 if none waits
//	skein_store_bytes                        size of the store on disk
//	skein_up_seconds                         time since the server started
//	go_goroutines, go_heap_bytes             of the process
//
// Routes are named by their patterns, never by the requested path: the numbers
// say nothing about who or what.
package metrics
