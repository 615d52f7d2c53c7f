// Package gemini reads the sessions of Google's Gemini CLI, and those that its fork
// Qwen Code wrote in the same format.
//
// # Where
//
// Under ~/.gemini, or $GEMINI_CLI_HOME/.gemini, on all systems:
//
//	tmp/<project>/chats/session-<YYYY-MM-DDTHH-MM>-<first 8 of the ID>.json    a document, to about version 0.39
//	tmp/<project>/chats/session-….jsonl                                         lines, since then
//	tmp/<project>/chats/<ID of the parent>/<ID>.jsonl                           lines of a sub-agent's session
//	tmp/<project>/checkpoint-<tag>.json                                         what /chat save TAG saved
//
// Project is the SHA-256 of the working directory in hexadecimal or, since about
// 0.29, a readable name; tmp/<project>/.project_root then has the directory, and
// projects.json ({"projects":{"/home/ada/pear":"pear"}}) has all of them. A session
// itself has only the hash; its directory is looked up in these two files, and among
// its own directories.
//
// # Documents
//
// One JSON document, rewritten at each change:
//
//	{"sessionId":…,"projectHash":…,"startTime":…,"lastUpdated":…,"messages":[…],"summary":…,"kind":…}
//
// It is read message by message, so a message that changed is amended. If a newer
// version resumes such a session, it copies the messages to a file of lines beside it
// and continues there: that is the same session, and what was added to the document
// afterward is kept as a fork of it.
//
// # Lines
//
// Appended to; each is a JSON object, identified by its members:
//
//	{"sessionId":…,"projectHash":…,…}  what the session is, as in the document
//	{"id":…,"type":…,…}                a message; one with an earlier ID replaces the earlier message
//	{"$set":{…}}                       members of the session: lastUpdated, which is ignored; summary, a title that a
//	                                   model wrote; messages, which replaces all messages (a compaction,
//	                                   shortened tool results); others are noted
//	{"$rewindTo":ID}                   this message and all after it are removed; all messages, if none has this ID
//
// Messages that come after a $set of messages count, though the program, when
// it loads such a file, takes only those of the $set.
//
// A list that begins with new messages in place of the earlier first ones is a
// compaction: their texts are the summary. Any other list that is more than the old
// one with changes is a rewind to what both have, and the rest is said again.
//
// # Messages
//
//	{"id","timestamp","type","content","displayContent","thoughts","tokens","model","toolCalls"}
//
//	user     said. content is a string, a part or a list: text, functionCall, functionResponse, inlineData and fileData
//	         as in the API. If displayContent is what was typed (/init, @file), the rest is synthetic
//	gemini   said by the model (qwen in Qwen Code's); thoughts {subject, description} are reasoning; tokens a step:
//	         input includes cached; thoughts are added to output, tool to input
//	toolCalls {id, name, args, result, status, timestamp, description, displayName, resultDisplay, agentId}: a call, a
//	         tool event (success, error, cancelled; executing; validating, scheduled, awaiting_approval; agentId is the
//	         session that it started) and, when it has ended, the answer
//	info, warning, error, any other   noted: they were shown, not sent to the model
//
// In a history that was rewritten, tool results also appear as user messages; they
// are not said twice.
//
// # Checkpoints
//
// {"history":[{"role":"user","parts":[…]},…]}, in early versions only the list: what
// the model is sent, without IDs or times. Each is a session of its own, named after
// its tag.
//
// # Qwen Code
//
// Early versions wrote such documents to ~/.qwen/tmp/<project>/chats, with type qwen
// in place of gemini. These are the format "qwen-old"; package qwen reads what later
// versions write.
//
// # Evidence
//
// Seen on real files: a document of January 2026, a file of lines of April 2026. By
// packages/core/src/services/chatRecordingService.ts, chatRecordingTypes.ts,
// config/{storage,projectRegistry}.ts and core/logger.ts of
// https://github.com/google-gemini/gemini-cli, read on 2026-11-21: $set with
// messages, $rewindTo, sub-agents, checkpoints, names of projects. Those are tested
// only on made-up files, as is everything of Qwen Code's.
package gemini
