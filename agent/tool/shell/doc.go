// Package shell has the tool with which a model runs commands.
//
// A command runs with sh -c (on Windows cmd /c) in the call's folder, without
// skein's file descriptors, terminal or standard input, and without environment
// variables that may hold a secret. Its output, both streams in the order
// written, is the answer; more than 64 KB of it go to a blob. When the time
// limit or the call's context ends, the command is killed with all processes
// that it started. A program that it leaves in the background on purpose
// (command &) survives, but its later output is not read.
//
// If skein itself is killed, the command and all processes that it started are
// ended too; what it did by then is unknown.
package shell
