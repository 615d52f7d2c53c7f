// Package write holds the commands of the group write: what adds to sessions, brings
// them here or takes them elsewhere.
package write
