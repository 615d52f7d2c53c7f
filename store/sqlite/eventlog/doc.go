// Package eventlog finds events of a session for package walk: what was said, what a
// window needs, what is live. It also says which events a session shows, and, while
// sessions are being purged, which session an event belongs to.
package eventlog
