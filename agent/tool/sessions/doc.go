// Package sessions has the tools by which a model looks into other sessions of
// the same user: session_search and session_read. session_read also reads the
// rest of a tool's long output, which lies in a blob of its own session.
//
// What they find was said by others, at other times, in other places. It is
// handed over as data: between two marks that have a hash of all that stands
// between them, so that no text can end its own frame, and with a sentence
// that says so.
package sessions
