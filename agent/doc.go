// Package agent lets a model and its tools work on a session of any Store.
//
// A [Thread] is a session that this process holds the lease of. [Thread.Turn]
// appends what the user said, shows the model its context, appends each answer
// when it is whole, runs the tools that it asks for and appends their outcomes,
// until the model has no more to ask. Each event is in the Store before the
// next step starts, so a turn that breaks off keeps what it had.
package agent
