// Package git asks Git about the history of a file: which commit each line is from, and
// when its author committed before. It runs the git program, without hooks, and writes
// nothing.
package git
