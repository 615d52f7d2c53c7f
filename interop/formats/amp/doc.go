// Package amp reads the threads of Amp (Sourcegraph), the coding agent.
//
// # Where
//
// $AMP_DATA_DIR, else amp/ in $XDG_DATA_HOME or ~/.local/share, on Windows in
// %APPDATA% too; there threads/T-<UUID>.json. Before that, the editor's plugin had
// threads3/ in globalStorage/sourcegraph.amp of VS Code and its kin. Newer versions
// keep threads on their server: their files are from the past.
//
// # File
//
// A thread is one JSON document, which is rewritten on each save: v (raised by each
// change), id, created (milliseconds), title, messages, nextMessageId, agentMode,
// env.initial{trees[{uri, displayName, repository{url, ref, sha}}], platform{client,
// clientVersion}}, relationships[{threadID, type, role, messageIndex, comment}],
// mainThreadID, usageLedger. It is a unit whose lines are pieces of it, one for each
// message (see [interop.OpenDocument]), after a line of our own that describes the
// session:
//
//	{"about":{"id":…,"created":…,"env":…,"relationships":…,"mainThreadID":…}}
//
// because in the file most of that comes after the messages.
//
//	about           created. A child of mainThreadID; a continuation of the thread in whose handoff or fork it has the
//	                role child (role says what this thread is). A fork repeats its parent's messages: they are copies
//	messages        said, by role: user; assistant, with model and usage; info, which the program shows and the model
//	                reads as the user's: by the system. A summary block is compacted or, if it names another thread,
//	                a part of kind other
//	  tool_result   said by the tools, and a tool event with the state of run: done completed; error, cancelled,
//	                rejected-by-user and others error; in-progress running. result is text, or an object whose output,
//	                content or diff is the text; it is kept whole too
//	  manual_bash_invocation   what the user ran: said by the user, "$ " and the command, and its output as synthetic
//	after these     titled, by the model; noted amp:thread with what is not named here; usageLedger counts as steps if no
//	                message has usage
//
// For OpenAI's models, cacheCreationInputTokens are input that was not cached,
// because inputTokens is 0 there.
//
// # Evidence
//
// No real file was available: fixture-tested. The shapes are those that several
// public readers agree on, checked on 2026-11-21, and those that the program's own
// code, as published in its package, accepts.
package amp
