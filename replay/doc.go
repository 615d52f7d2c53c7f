// Package replay writes and reads sessions as logs: text files that stand
// alone, so that a session can be carried to another machine, kept, read by
// other programs, and followed while it grows.
//
// # Format
//
// A log is UTF-8 without a byte order mark, lines that end in a line feed
// (0x0A). Each line is one JSON object (RFC 8259) without any line feed or
// carriage return in it; its first member says what it is. A log holds one
// session or several, one after the other; so two logs, the one put behind the
// other, are a log. It is only ever added to.
//
// A head begins a session, and ends the one before:
//
//	{"skein":"replay","version":1,"session":"ID","first":1,"last":57}
//
// session is its ID. first is the seq of the first event that follows, last
// that of the last one; last is left out while a log still grows. If fewer
// events follow, the file was cut.
//
// An event:
//
//	{"seq":1,"time":"2026-11-21T04:36:00.123Z","kind":"said","client_id":"c1","payload":{"role":"user","parts":[]}}
//
// seq, time ("" if not known), kind, client_id (left out if there is none) and
// payload are those of [skein.Event], in this order. The seqs of a session
// count up without gaps. The bytes of payload, from its first { to its last },
// are the event's own: spaces, escapes, the order of members and numbers are
// as the event was made. A payload that cannot stand so, because it has a line
// feed or a carriage return between its members, is not UTF-8 or may be nested
// deeper than 9,000, is instead a member payload64, a string of its bytes in
// base64 (RFC 4648, section 4).
//
// Where the store could not read an event any more, one that says so stands in its
// place, with a member damaged, before payload, that says why:
//
//	{"seq":3,"time":"2026-11-21T04:36:00.123Z","kind":"said","damaged":"event 3 is damaged: …","payload":{"role":"user","parts":[…]}}
//
// [Load] names it, and takes it only where the store has no event there. An event that
// is stored in this way stays: it says by its client ID, damaged/3, what it is, and a log
// that has the event itself is taken for one of the same session.
//
// A piece of a blob:
//
//	{"blob":"SHA-256","size":70000,"at":0,"data":"BASE64"}
//
// blob is the SHA-256 of the whole blob in lower-case hexadecimal, size its
// length in bytes, at where the piece begins, data its bytes in base64. All
// pieces of a blob stand one after the other, from at 0, with at most 768 KiB
// of bytes each; a blob has at most 1 GiB. It stands once for each
// session, somewhere before the first event that names it. A blob that the
// store has not is left out.
//
// # Forks
//
// A fork shows events of its parent, and the parent perhaps of its own. The
// log of a fork has them all: before its own head, for each session that it
// shows events of, the oldest first, a head with for, and these events:
//
//	{"skein":"replay","version":1,"session":"PARENT","first":1,"last":12,"for":"FORK"}
//	…
//	{"skein":"replay","version":1,"session":"FORK","first":13,"last":20}
//	{"seq":13,"time":"…","kind":"created","payload":{"parent":{"session":"PARENT","seq":12,"why":"fork"}}}
//
// [Load] gives the parent the events that the fork shows, if it is not there;
// if its own log comes later, it gets the rest.
//
// # Reading
//
// A reader takes a byte order mark at the beginning, CR LF for a line feed,
// blank lines and more than one object on a line. It ignores members that it
// does not know, refuses a version that is higher than its own, and counts
// every other line that it cannot read. The same session always gives the same
// bytes.
package replay
