// Package acp stands between an editor and an agent that speak the Agent Client
// Protocol, and keeps what they say.
//
// It relays lines. What it does not know passes byte for byte; of what it knows, only
// session IDs are replaced: the editor sees those of the store, which never change, the
// agent its own. Package wire finds them, package record turns what passes into events.
//
//	        ┌ fromEditor ─ session's queue ─ agent's queue ┐
//	editor ─┤                                              ├─ agent
//	        └ editor's queue ─ session's queue ─ fromAgent ┘
//
// A prompt waits in its session's queue until it is on disk, and so does the answer to
// it until everything that the agent said before is. Whatever waits holds back only the
// later lines of its own session. The queues are limited: beyond that, the program
// that is ahead waits for the one that is behind.
package acp
