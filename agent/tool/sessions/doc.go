// Package sessions has the tools with which a model reads other sessions of the
// same user: session_search and session_read. session_read also reads the rest
// of a tool's long output, which is in a blob of its own session.
//
// What they find was said by others, at other times and in other places. It is
// passed as data: between two marks that contain a hash of the text between
// them, so that no text can end its own frame, and with a sentence that says
// that it is data.
package sessions
