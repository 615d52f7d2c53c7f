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
// When we are killed without a chance to end it, it is ended too, with all that
// it has started; what it did by then, nobody knows.
package shell
