// Package cursor reads the three stores of Cursor (https://cursor.com): those of
// its editor and its command line, and the transcripts that both write.
//
// # Editor
//
// globalStorage/state.vscdb in Cursor/User of the system's settings folder
// ($XDG_CONFIG_HOME or ~/.config, ~/Library/Application Support, %APPDATA%), table
// cursorDiskKV(key UNIQUE, value), values JSON:
//
//	composerData:<composer>       the session: name, createdAt (ms), modelConfig, unifiedMode, status, usageData{model:
//	                              {costInCents}}, subagentInfo, since 3.12 workspaceIdentifier, and
//	                              fullConversationHeadersOnly[{bubbleId, type}], the messages in order; until 2025
//	                              conversation[], the messages themselves
//	bubbleId:<composer>:<bubble>  a message: type 1 the user's, 2 the model's; text, thinking, toolFormerData{name,
//	                              toolCallId, rawArgs, params, result, status}, tokenCount, timingInfo, errorDetails
//	composerHeaders(composerId, value, …)   a table of newer versions, with name, workspaceIdentifier, subagentInfo
//
// A session began on the branch createdOnBranch and was last on activeBranch.branchName
// or, earlier, lastMessageSentOnBranch. Its folder is in workspaceIdentifier; in earlier versions, in the list
// composer.composerData of a workspace's database
// (workspaceStorage/<hash>/state.vscdb, ItemTable; its folder is in workspace.json).
// No other key of ItemTable is read, because it holds credentials. The encryption
// keys in composerData are left empty. Bubbles that no header lists were rewound, and
// are not read.
//
// Such a database is often many gigabytes. Like every live database it must be
// copied: once for each import, or each check of a watch, that finds it changed
// (without copying its bytes if the file system can clone). In the copy, keys are
// read by their index: those that begin with composerData: and, for each composer,
// with bubbleId:. A write gives a row a new rowid, so rowids show which sessions are
// unchanged. Values are read only for the other sessions, one row at a time. For 0.9
// GB with 20,000 messages (on two slow cores), that takes 8 s for the first import,
// 1.3 s when one message changed, nothing when none did, and space for the copy. No
// workspace's list is read if there is composerHeaders; otherwise the databases of at
// most 500 workspaces, each up to 64 MB, are copied too.
//
// # Command line
//
// ~/.cursor/chats/<MD5 of the folder>/<session>/store.db ($CURSOR_CONFIG_DIR in place
// of ~/.cursor): blobs(id, data), id being the SHA-256 of data, and meta(key, value),
// whose row 0 is hexadecimal JSON {agentId, latestRootBlobId, name, mode, createdAt
// (ms), lastUsedModel}. The root is in the wire format of protocol buffers: field 1
// has the hashes of the messages in order, field 9 the folder as a URI; messages are
// JSON in the AI SDK's form, {role, content}. In a root without field 1, hashes are
// followed through all fields, 8 deep. The rows of the session come in that order; a
// message that is repeated word for word has only one row, so the repetition has a
// line {"again":ID,"data":…}. Other blobs, including older roots, are kept in the
// source "".
//
// # Transcripts
//
// ~/.cursor/projects/<folder with ->/agent-transcripts/, also in ~/.cursor-server:
// <session>/<session>.jsonl, a sub-agent's in <session>/subagents/, older ones side
// by side; lines {role, message{content}} with Anthropic's blocks, and
// {type:"turn_ended"}. Older still, .txt: user: or assistant: alone on a line, then
// [Thinking], [Tool call] NAME and [Tool result] NAME with indented lines. The folder
// is workspacePath of .workspace-trusted, or what the program told the model. There
// are no times and no usage. A transcript whose session is in chats/ too is not read.
// One whose session is in the editor's database becomes a separate session, its ID
// with ~ and a hash appended.
//
// # Events
//
// What the program puts around a user's text (<user_info>, and everything outside of
// <user_query>) is synthetic. A call becomes a said event, a tool event and its
// result; the result of a task tool names the child. costInCents becomes steps with
// that cost. Few messages have tokens; those that do keep them.
//
// # Evidence
//
// No real database was available: fixture-tested. The shapes are those that several
// public readers and descriptions agree on, checked on 2026-11-21 (composerData to _v
// 10, bubbles _v 3, composerHeaders of 2026). Not verified: the fields of the root
// other than 1 and 9, what subagentInfo is called in store.db, and chats of the
// editor from before the composer (2023-2024, workbench.panel.aichat), which are not
// read.
package cursor
