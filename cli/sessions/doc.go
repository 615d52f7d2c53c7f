// Package sessions holds what commands do with stored sessions: find the one that a
// person means by a name, complete names, list them, read them in pieces, mask their
// secrets, and say what they cost.
package sessions
