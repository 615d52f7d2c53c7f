// Package interop brings the sessions of other programs in from their files.
//
// A [Format] knows one program's files; each has a package of its own under
// this one. [Import] does what all formats share: it walks folders, matches
// files, cuts them into records, hands those to the format's [Reader] and
// appends what comes out, with the records and the place reached in the same
// transaction. [Watch] goes on doing so. [WriteSource] gives a file back, byte
// for byte.
//
// # Records, items, keys
//
// A record is a piece of a file that stands for itself: a JSON object in a file
// of JSON Lines. The records of a file, one after the other, are the file:
// blank lines, damage and a torn end are records too, without events. A reader
// is given the records in order from the first and answers each with what it
// makes of it: [Made]. That may depend on records before it, never on those
// after it, on the clock, on other files or on the store: so an import in
// pieces equals an import at once, and a reader can be brought back to any
// place by giving it the same records again.
//
// A record's Key says which record it is in the world: the UUID that its
// program gave it, or where there is none its session, a hash of its content
// and its number among equals. The engine makes the client IDs of the events
// out of it: Key if the record has one event, Key/0, Key/1 and so on if it has
// several. The created event of a session has the client ID [CreatedID]. A key
// that comes a second time in a file is told apart by the engine ("#2"), so
// nothing is lost.
//
// # Copies
//
// A file that begins with another's records (a resumed or forked session) is
// found by these keys: where the events of a record stand in another session
// already, equal in kind and payload, the record is a copy and makes no event.
// A session is created with the first record of its own, as a fork at the last
// record that it shares. Floating records (see [Made]) wait until then. For
// this to work a payload must not hold what a copy changes, such as the
// session's ID or a time stamp.
package interop
