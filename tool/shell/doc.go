// Package shell is the tool by which a model runs commands.
//
// A command runs by sh -c (on Windows cmd /c) in the call's folder, without
// our descriptors, terminal, standard input, and without the variables of our
// environment that may hold a secret. What it writes, on both streams in the
// order written, is the answer; more than 64 KB of it go to a blob. When the
// time limit or the call's context ends, it is killed with all that it has
// started. A program that it leaves behind on purpose (command &) lives on,
// but what that still writes is not read.
//
// When we are killed without a chance to end it, Linux kills the shell, and
// Windows all that runs; elsewhere, and what a shell on Linux has started by
// then, runs to its end. The call is uncertain either way.
package shell
