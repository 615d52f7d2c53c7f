// Package hooknews keeps what the hooks of agents say about their sessions: which
// one works, waits for a person or has ended, and which file it is in.
//
// A hook is a command that an agent starts when something happens; setup enters
// "skein hook AGENT" as one. [Parse] reads what the agent tells its hook, and
// [Board.Put] keeps the newest of it in a small file for each session, so that
// every process can read it without a store:
//
//	<state>/hooks/<agent>-<16 hex digits of SHA-256 of the session>.json
//
// A file has one JSON object, a [News]. It is replaced as a whole, under a name
// that begins with a dot until then, so a reader always finds a complete one. A
// watcher learns of news by watching the folder. Files of sessions that were not
// heard of for a week are removed.
//
// What a hook said can be outdated: an agent that is killed says nothing. Compare
// [News.At] with what the session's events and its file say.
package hooknews
