// Package replay writes and reads sessions as logs: self-contained text files, so
// that a session can be moved to another machine, archived, read by other programs,
// and followed while it grows.
//
// # Format
//
// A log is UTF-8 without a byte order mark, in lines that end in a line feed
// (0x0A). Each line is one JSON object (RFC 8259) without any line feed or
// carriage return in it; its first member says what it is. A log holds one or
// several sessions, one after the other; so two logs concatenated are a log. A
// log is only ever appended to.
//
// A head begins a session, and ends the one before:
//
//	{"skein":"replay","version":1,"session":"ID","first":1,"last":57}
//
// session is its ID. first is the seq of the first event that follows, last
// that of the last one; last is omitted while a log still grows. If fewer
// events follow, the file was cut.
//
// An event:
//
//	{"seq":1,"time":"2026-11-21T04:36:00.123Z","kind":"said","client_id":"c1","payload":{"role":"user","parts":[]}}
//
// seq, time ("" if not known), kind, client_id (omitted if there is none) and
// payload are those of [skein.Event], in this order. The seqs of a session
// count up without gaps. The bytes of payload, from its first { to its last },
// are the event's own: spaces, escapes, the order of members and numbers are
// unchanged. A payload that cannot be written this way, because it has a line
// feed or a carriage return between its members, is not UTF-8 or may be nested
// deeper than 9,000, is instead a member payload64, a string of its bytes in
// base64 (RFC 4648, section 4).
//
// If the store could no longer read an event, a placeholder takes its place, with a
// member damaged, before payload, that says why:
//
//	{"seq":3,"time":"2026-11-21T04:36:00.123Z","kind":"said","damaged":"event 3 is damaged: …","payload":{"role":"user","parts":[…]}}
//
// [Load] reports it, and stores it only if the store has no event there. A placeholder
// that is stored stays: its client ID, damaged/3, says what it is, and a log that has
// the event itself is recognized as one of the same session.
//
// A piece of a blob:
//
//	{"blob":"SHA-256","size":70000,"at":0,"data":"BASE64"}
//
// blob is the SHA-256 of the whole blob in lower-case hexadecimal, size its
// length in bytes, at where the piece begins, data its bytes in base64. All
// pieces of a blob follow one another, from at 0, with at most 768 KiB of
// bytes each; a blob has at most 1 GiB. It occurs once for each session,
// somewhere before the first event that names it. A blob that the store does
// not have is omitted.
//
// # Forks
//
// A fork shows events of its parent, and the parent perhaps of its own. The
// log of a fork has them all: before its own head, for each session whose events
// it shows, the oldest first, a head with for, and these events:
//
//	{"skein":"replay","version":1,"session":"PARENT","first":1,"last":12,"for":"FORK"}
//	…
//	{"skein":"replay","version":1,"session":"FORK","first":13,"last":20}
//	{"seq":13,"time":"…","kind":"created","payload":{"parent":{"session":"PARENT","seq":12,"why":"fork"}}}
//
// [Load] appends to the parent the events that the fork shows, if the parent does
// not exist; if its own log comes later, it gets the rest.
//
// # Reading
//
// A reader accepts a byte order mark at the beginning, CR LF for a line feed,
// blank lines and more than one object on a line. It ignores members that it
// does not know, refuses a version higher than its own, and counts every other
// line that it cannot read. The same session always makes the same bytes.
package replay
