// Package thread opens the session that a person talks in, or that messages from
// elsewhere are answered in: which one the flags mean, who answers, which tools need
// not ask, what is attached to a prompt.
package thread
