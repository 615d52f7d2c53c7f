// Package setup is the command setup: it connects skein to the agents of a machine,
// so that their sessions are kept without anybody thinking of it, and takes that
// back without a trace.
package setup
