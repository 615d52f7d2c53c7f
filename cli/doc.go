// Package cli is the skein command.
//
// Each command is one file of one shape: an options struct with its flags, a
// constructor that says how it is called, and a run function that is handed a
// job: the world ([Env]), the settings and the opened store. Results go to
// stdout, everything else to stderr; a run function returns an error and never
// prints it. What errors mean is said in one place, exit.go: the exit codes,
// and what to do next.
//
// To add a command: write a file with a function newX(*frame) *cobra.Command
// and a line in commands.go.
package cli
