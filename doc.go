// Package skein keeps the sessions of AI agents: what was said, which tools
// ran, what it cost, in the order it happened.
//
// # Words
//
// A [Session] is one thread of work; its [SessionID] never changes. Its key
// is a natural name such as cli:api. An [Event] is one thing that happened in
// a session and the only thing ever written; its [Seq] is its position there: 1,
// 2, 3, no gaps, assigned by the store. A [Message] is one utterance of one
// speaker, made of [Part] values. A turn is a user message and everything up
// to the next one. The context is the messages a model is shown on its next
// request. A fork is a session that begins with another session's events up
// to a seq; a child is a session that an agent's delegation started. A
// [Lease] is the right to write to a session and carries a fencing number. A
// [User] owns sessions. A project is a working directory or git root: an
// attribute, never part of an ID. An [Origin] is the program and file that an
// imported session came from.
//
// # Which way the data flows
//
// Everything that writes makes events and hands them to [Store.Append];
// everything that reads asks the [Store]. There is no other way to the disk.
// Everything else is computed from the events: the Session ([Session.Apply]), the
// message list ([Entries]), the model's context ([window.Context]), the search
// index ([FactsOf]), the usage.
//
// This package imports only the standard library and does no I/O.
package skein
