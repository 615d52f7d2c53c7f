// Package adkgo keeps the sessions of Google's Agent Development Kit for Go
// (google.golang.org/adk/v2) in a [skein.Store]: [New] returns a
// session.Service.
//
// A session of ADK, which has an app, a user and an ID, is the live session
// with a key made of the three. Each event is one event here: a message, if
// something was said, with its content as parts that people read and search,
// and the event's own JSON beside them, from which it is read again. Events
// come in the order in which they were stored, whatever their time stamps say.
//
//   - An event whose ID the session has is not stored again; with other content
//     it is refused.
//   - A writer whose session has moved on since it was read is refused: the
//     error wraps [skein.ErrConflict]. Titles, tags and the like do not count.
//   - State is kept as the deltas of events; what is app's and user's is in two
//     sessions of its own, and is stored together with the event, all or none.
//     What is temporary is not stored.
//   - Delete puts the session in the bin, where nothing is lost and from where
//     it can be restored; its ID is free again.
//   - What is said elsewhere in the session, in a terminal or a browser, is
//     among the events; a rewind hides what came after.
package adkgo
