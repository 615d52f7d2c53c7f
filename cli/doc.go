// Package cli is the skein command: the list of all commands, in the order of the
// help, and the commands about the program itself.
//
// The commands of a group are in the package of its name: talk, read, write, keep,
// serve. Each has the same form: an options struct with its flags, a constructor that
// describes it to cobra, and a run function that receives a [job.Job]: the
// environment, the settings and the open store. Results go to stdout, everything else
// to stderr; a run function returns an error and never prints it. The package fault
// says what errors mean: their exit codes, and what to do next.
//
// To add a command: write a function NewX(*job.Frame) *cobra.Command in the package
// of its group, and a line in groups, in main.go.
package cli
