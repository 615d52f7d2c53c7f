// Package adkgo keeps the sessions of Google's Agent Development Kit for Go
// (google.golang.org/adk/v2) in a [skein.Store]: [New] returns a
// session.Service.
//
// A session of ADK, which has an app, a user and an ID, is the live session
// with a key made of the three. Each event is one skein event: a message, if
// something was said, with its content as parts that people can read and
// search, and with the event's own JSON, from which it is restored. Events come
// in the order in which they were stored, whatever their time stamps say.
//
//   - An event whose ID the session already has is not stored again; if its
//     content differs, it is refused.
//   - A write is refused if the session has changed since the writer read it:
//     the error wraps [skein.ErrConflict]. Titles, tags and the like do not count.
//   - State is stored as the deltas of events; the app's and the user's state is
//     in two sessions of its own, and is stored together with the event, all or
//     none. Temporary state is not stored.
//   - Delete puts the session in the bin, where nothing is lost and from where
//     it can be restored; its ID is free again.
//   - What is said elsewhere in the session, in a terminal or a browser, is
//     among the events; a rewind hides what came after.
package adkgo
