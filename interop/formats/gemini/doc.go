// Package gemini reads the sessions of Google's Gemini CLI, and those that Qwen
// Code, which was made from it, wrote in the same shape.
//
// # Where
//
// Under ~/.gemini, or $GEMINI_CLI_HOME/.gemini, on all systems:
//
//	tmp/<project>/chats/session-<YYYY-MM-DDTHH-MM>-<first 8 of the ID>.json    a document, to about version 0.39
//	tmp/<project>/chats/session-….jsonl                                         lines, since then
//	tmp/<project>/chats/<ID of the parent>/<ID>.jsonl                           lines of a sub-agent's session
//	tmp/<project>/checkpoint-<tag>.json                                         what /chat save TAG kept
//
// Project is the SHA-256 of the working directory, hexadecimal, or since 0.29
// or so a readable name; tmp/<project>/.project_root then has the directory,
// and projects.json ({"projects":{"/home/ada/pear":"pear"}}) has all. A session
// itself has only the hash; its directory is looked for in these two, and among
// its own directories.
//
// # Documents
//
// One JSON document, written anew at each change:
//
//	{"sessionId":…,"projectHash":…,"startTime":…,"lastUpdated":…,"messages":[…],"summary":…,"kind":…}
//
// It is read message by message, so what has changed in one is an amendment of
// that one. Where such a session is resumed by a newer version, its messages go
// to a file of lines beside it, and it goes on there: that is the same session,
// and what came after it is kept as a fork of it.
//
// # Lines
//
// Appended to, each a JSON object that is told by its members:
//
//	{"sessionId":…,"projectHash":…,…}  what the session is, as in the document
//	{"id":…,"type":…,…}                a message; with an ID that there was, it stands in the place of that one
//	{"$set":{…}}                       members of the session: lastUpdated, which is no news; summary, a title that a
//	                                   model wrote; messages, which takes the place of all there were (a compaction,
//	                                   shortened answers of tools); others are noted
//	{"$rewindTo":ID}                   this message and all after it are gone; all, if there is none with this ID
//
// Messages that come after a $set of messages count, though the program, when
// it loads such a file, takes only those of the $set.
//
// A list that begins with new messages in place of the first ones there were is
// a compaction: their texts are the summary. Any other that is more than the
// old one with changes is a rewind to what both have, and the rest said again.
//
// # Messages
//
//	{"id","timestamp","type","content","displayContent","thoughts","tokens","model","toolCalls"}
//
//	user     said. content is a string, a part or a list: text, functionCall, functionResponse, inlineData and fileData
//	         as the API has them. Where displayContent is what was typed (/init, @file), the rest is synthetic
//	gemini   said by the model (qwen in Qwen Code's); thoughts {subject, description} are reasoning; tokens a step:
//	         input has cached in it, thoughts come on top of output, tool on top of input
//	toolCalls {id, name, args, result, status, timestamp, description, displayName, resultDisplay, agentId}: a call, a
//	         tool event (success, error, cancelled; executing; validating, scheduled, awaiting_approval; agentId is the
//	         session that it started) and, when it has ended, the answer
//	info, warning, error, any other   noted: they were shown, not said to the model
//
// Where a history was written anew, answers of tools stand as users' messages
// too; they are not said twice.
//
// # Checkpoints
//
// {"history":[{"role":"user","parts":[…]},…]}, in early versions the list
// alone: what the model is sent, without IDs or times. Each is a session of its
// own, named after its tag.
//
// # Qwen Code
//
// Early versions wrote such documents to ~/.qwen/tmp/<project>/chats, with type
// qwen in place of gemini. They are the format "qwen-old". What later versions
// write is another format.
//
// # Evidence
//
// Seen on real files: a document of January 2026, a file of lines of April 2026.
// By packages/core/src/services/chatRecordingService.ts, chatRecordingTypes.ts,
// config/{storage,projectRegistry}.ts and core/logger.ts of
// https://github.com/google-gemini/gemini-cli, read on 2026-11-21: $set with
// messages, $rewindTo, sub-agents, checkpoints, names of projects. Those are
// tested on files made for it only, as is all of Qwen Code's.
package gemini
