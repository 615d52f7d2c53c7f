// Package eventlog finds events of a session for package walk: what was said, what a
// window needs, what is live. Each method is one round trip per few segments.
package eventlog
