// Package authorship has the operations of the API about who wrote what: which session
// wrote the lines of a file and why, what a session did to files, and what all sessions
// did to one.
package authorship
