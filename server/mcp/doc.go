// Package mcp lets agents read sessions over the Model Context Protocol: as a
// program that an agent starts ([Serve]) and as a route of a server ([Routes]).
//
// # Tools
//
//	session_list    the sessions, newest first
//	session_search  messages, tool calls and results that match words
//	session_read    the messages of a session, in pages, in both directions
//	session_tree    the ancestors, forks and children of a session
//	session_now     what each session is doing: waiting, working, idle, failed, ended
//	session_usage   tokens and cost, by day, model, agent, project or session
//	session_blame   which sessions wrote the lines of a file
//	session_why     the prompt, the reasoning and the edit behind a line
//	session_note    adds a note to a session
//	session_fork    begins a session with the first part of another one
//	session_rename  gives a session a title
//
// session_blame and session_why exist only at the side of a repository, with
// [Options.Folder]. The last three exist only if writing is allowed: with [Options.Write] and, on
// a server, for a token with the scope write. No tool changes or removes what
// was said. Sessions are also resources: skein://session/ID.
//
// # The form of an answer
//
// What was said in sessions was said by people, models and tools, and may be
// meant to mislead the reader. So a tool's answer is a single text:
//
//	what the frame means, in a sentence
//	===== data MARK =====
//	JSON Lines
//	===== end of data MARK =====
//	notes, such as the cursor of the next page
//
// MARK is 128 random bits, drawn for each answer, so that no text can end the
// frame. Inside, every text is a JSON string, so that no text can look like
// another message. Secrets are masked ([redact.Redactor]). Texts are cut after
// 8,000 bytes, and answers after 100,000; both say so.
package mcp
