// Package cli is the skein command.
//
// Each command is one file of the same form: an options struct with its flags, a
// constructor that describes it to cobra, and a run function that receives a job:
// the environment ([Env]), the settings and the open store. Results go to stdout,
// everything else to stderr; a run function returns an error and never prints it.
// One file, exit.go, says what errors mean: their exit codes, and what to do next.
//
// To add a command: write a file with a function newX(*frame) *cobra.Command
// and a line in commands.go.
package cli
