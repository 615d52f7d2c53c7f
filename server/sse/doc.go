// Package sse sends server-sent events: [Serve] writes them to one reader, and
// [Hubs] let many readers of the same events share one reader of the store.
package sse
