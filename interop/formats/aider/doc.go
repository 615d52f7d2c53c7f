// Package aider reads the chat history of aider (https://aider.chat).
//
// # Where
//
// .aider.chat.history.md in the root of a repository, or in the folder where
// aider was started: that of the working directory, and any that lies below a
// folder which is named. $AIDER_CHAT_HISTORY_FILE is looked at if its name ends so.
//
// # File
//
// Markdown to which aider appends:
//
//	# aider chat started at 2025-12-24 16:45:52    a session begins; local time, as this machine's
//	#### how many pears?                            what the person typed, each line of it
//	> Tokens: 12k sent, 1.2k received. Cost: $0.05 message, $0.10 session.
//	anything else                                   what the model said
//
// Each session is a source of the file, called by its time (20251224-164552, with
// .2 and so on behind it for a second one in the same second); its lines are pieces of
// it (see [interop.OpenDocument]): the heading, and each run of lines of one kind. As
// aider itself reads it, a line of the model's that begins with "#### " or "> " is
// taken for the person's or for the program's: the file does not tell.
//
//	####           said by the user, commands such as /add too
//	> lines        noted aider:output, as they stand, and:
//	  > Aider v0.86.1, > Main model: NAME with …, > Model: NAME …   version and model
//	  > Tokens:    a step: tokens, rounded as they are there (1.2k is 1200), and the cost of the message. Tokens of cache
//	               write and cache hit are taken out of those sent
//	other lines    said by the assistant
//
// A file of more than 64 MB is not read.
//
// # Evidence
//
// Checked on 2026-11-21 by the program's source,
// https://github.com/Aider-AI/aider: aider/io.py (append_chat_history, user_input,
// tool_output), aider/utils.py (split_chat_history_markdown, format_tokens) and
// aider/coders/base_coder.py (the report of tokens). Tested on files composed after
// them; one that a public repository has looks the same.
package aider
