// Package aider reads the chat history of aider (https://aider.chat).
//
// # Where
//
// .aider.chat.history.md in the root of a repository, or in the folder where aider
// was started: the one for the working directory, and any below a folder that is
// given. $AIDER_CHAT_HISTORY_FILE is read if it ends in that name.
//
// # File
//
// Markdown to which aider appends:
//
//	# aider chat started at 2025-12-24 16:45:52    a session begins; local time, assumed to be this machine's
//	#### how many pears?                            what the user typed, each line of it
//	> Tokens: 12k sent, 1.2k received. Cost: $0.05 message, $0.10 session.
//	anything else                                   what the model said
//
// Each session is a source of the file, named after its time (20251224-164552, with
// .2 and so on appended for a second one in the same second); its lines are pieces of
// the file (see [interop.OpenDocument]): the heading, and each run of lines of one
// kind. As in aider itself, a line by the model that begins with "#### " or "> " is
// attributed to the user or to the program: the file cannot tell them apart.
//
//	####           said by the user, commands such as /add too
//	> lines        noted aider:output, unchanged, and:
//	  > Aider v0.86.1, > Main model: NAME with …, > Model: NAME …   version and model
//	  > Tokens:    a step: tokens, rounded as in the file (1.2k is 1200), and the cost of the message. Tokens of cache
//	               write and cache hit are subtracted from those sent
//	other lines    said by the assistant
//
// A file of more than 64 MB is not read.
//
// # Evidence
//
// Checked on 2026-11-21 by the program's source, https://github.com/Aider-AI/aider:
// aider/io.py (append_chat_history, user_input, tool_output), aider/utils.py
// (split_chat_history_markdown, format_tokens) and aider/coders/base_coder.py (the
// report of tokens). Tested on files composed from it; one found in a public
// repository looks the same.
package aider
