// Package agent lets a model and its tools work on a session of any Store.
//
// A [Thread] is a session whose lease this process holds. [Thread.Turn] appends
// what the user said, sends the model its context, appends each answer once it
// is complete, runs the tools that the answer calls and appends their outcomes,
// until the model calls no more tools. Each event is in the Store before the
// next step starts, so a turn that breaks off keeps what it had.
package agent
