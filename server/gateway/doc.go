// Package gateway lets people talk to agents from elsewhere: Telegram, Discord,
// Slack, e-mail, any program that can sign a request. A message there becomes
// a turn of a session here, and its answer goes back the way that it came.
//
// # Keys
//
// Each place that messages come from has a key, and goes on in the session of
// that key:
//
//	telegram:<bot>:<chat>[:<thread>]
//	discord:<channel>
//	slack:<channel>[:<thread>]
//	email:<thread>
//
// [Key] makes one; a piece with a colon in it is escaped as in a URL. /new goes
// on in a fresh session under the key and a number of milliseconds, as skein
// chat does. [Link] joins a place to any other session: that is a tag, link:KEY,
// on that session, which goes before the key.
//
// # Once
//
// A message is written to the inbox, a folder of small files, before its sender
// is told that it arrived; it leaves it when its answer was sent. So a restart
// loses nothing. What came once is known for a week, and a message is stored in
// its session under a client ID made of its own, so nothing is said twice. Only
// an answer whose sending was cut off in the middle is sent again.
//
// Messages under one key are answered one after the other, in the order in
// which they came. An answer that is the same, word for word, as one that was
// sent under the key less than 30 seconds before is not sent, as two senders of
// one event would otherwise have it twice; /new ends that.
//
// # Who
//
// Nobody may talk to the agent but who is on the surface's list. All others get
// nothing, not even an answer; the log says who they were. Nobody is there to
// be asked whether a tool may run: those that ask run only if they are allowed
// beforehand, and the answer says which were not.
package gateway
