// Package lookup finds the session that a person means: by ID, a part of it, key
// or title; the shortest IDs to type; and the family of a session.
package lookup
