// Package gateway lets people talk to agents from elsewhere: Telegram, Discord,
// Slack, e-mail, any program that can sign a request. A message there becomes a
// turn of a session here, and its answer goes back the same way.
//
// # Keys
//
// Each place that messages come from has a key, and continues the session of
// that key:
//
//	telegram:<bot>:<chat>[:<thread>]
//	discord:<channel>
//	slack:<channel>[:<thread>]
//	email:<thread>
//
// [Key] makes one; a colon inside a piece is escaped as in a URL. /new
// continues in a fresh session, whose key is that key and a number of
// milliseconds, as in skein chat. [Link] joins a place to any other session, by
// a tag link:KEY on that session, which takes precedence over the key.
//
// # Exactly once
//
// A message is written to the inbox, a folder of small files, before its sender
// gets an acknowledgment; it leaves the inbox when its answer was sent. So a
// restart loses nothing. The gateway remembers a message for a week, and stores
// it in its session under a client ID made from the message's own, so nothing
// is said twice. Only an answer whose sending was cut off in the middle is sent
// again.
//
// Messages under one key are answered one after the other, in the order in
// which they came. An answer with exactly the text of one that was sent under
// the key less than 30 seconds before is not sent: otherwise, an event with two
// senders would be answered twice. /new resets that.
//
// # Access
//
// Only people on the surface's allow list may talk to the agent. All others get
// no answer at all; the log says who they were. There is nobody to ask whether
// a tool may run: tools that need permission run only if they are allowed
// beforehand, and the answer names those that were not.
package gateway
