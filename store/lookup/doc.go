// Package lookup finds the session that a person means, by its ID, part of its ID,
// its key or its title; the shortest IDs to type; and the family of a session.
package lookup
