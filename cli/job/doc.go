// Package job holds what the run function of every command receives: the
// environment, the settings and the open store; and the flags, questions, pager and
// consent that commands share.
//
// A command is a function that takes a [Frame] and returns a cobra.Command. It wraps
// its run function with [Frame.Plain] or [Frame.WithStore].
package job
