// Package trace has the commands that connect sessions with the files of a repository
// and its commits: which session wrote a line, and why.
package trace
