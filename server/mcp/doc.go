// Package mcp lets agents read sessions, over the Model Context Protocol: as a
// program that an agent starts ([Serve]) and as a route of a server ([Routes]).
//
// # Tools
//
//	session_list    which sessions there are, newest first
//	session_search  messages, tool calls and results by their words
//	session_read    the messages of a session, by cursor either way
//	session_tree    what a session came from, its forks and children
//	session_usage   tokens and cost, by day, model, agent, project or session
//	session_note    adds a note to a session
//	session_fork    begins a session with the first part of another
//	session_rename  gives a session a title
//
// The last three only where writing is allowed: with [Options.Write], and at a
// server for a token with the scope write. No tool changes or removes what was said. Sessions are
// resources too: skein://session/ID.
//
// # What an answer looks like
//
// What was said in sessions was said by people, models and tools, and may be
// meant to mislead who reads it now. So a tool's answer is one text:
//
//	what the frame means, in a sentence
//	===== data MARK =====
//	JSON Lines
//	===== end of data MARK =====
//	what there is to say besides: the cursor of the next page
//
// MARK is 128 random bits, drawn for this answer, so that no text can end the
// frame. Inside, every text is a JSON string, so that no text can look like
// another message. Secrets are taken out ([redact.Redactor]); texts are cut
// after 8,000 bytes, answers after 100,000, and both say so.
package mcp
