// Package fault holds the errors of the command line: how they read, what a person
// can do about them, and which exit code they have.
package fault
