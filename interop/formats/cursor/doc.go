// Package cursor reads the three stores of Cursor (https://cursor.com): those of
// its editor and its command line, and the transcripts that both write.
//
// # Editor
//
// globalStorage/state.vscdb in Cursor/User of the system's folder for settings
// ($XDG_CONFIG_HOME or ~/.config, ~/Library/Application Support, %APPDATA%), table
// cursorDiskKV(key UNIQUE, value), values JSON:
//
//	composerData:<composer>       the session: name, createdAt (ms), modelConfig, unifiedMode, status, usageData{model:
//	                              {costInCents}}, subagentInfo, since 3.12 workspaceIdentifier, and
//	                              fullConversationHeadersOnly[{bubbleId, type}], the messages in their order; until 2025
//	                              conversation[], the messages themselves
//	bubbleId:<composer>:<bubble>  a message: type 1 the user's, 2 the model's; text, thinking, toolFormerData{name,
//	                              toolCallId, rawArgs, params, result, status}, tokenCount, timingInfo, errorDetails
//	composerHeaders(composerId, value, …)   a table of newer versions, with name, workspaceIdentifier, subagentInfo
//
// Which folder a session is of stands in workspaceIdentifier; before, in the
// list composer.composerData of the database of a workspace
// (workspaceStorage/<hash>/state.vscdb, ItemTable; its folder is in
// workspace.json). No other key of ItemTable is read: credentials are there.
// The keys for encryption that composerData has are left empty. Bubbles that no
// header lists were gone back over, and are not read.
//
// Such a database has often many gigabytes. It is copied once for each import, or
// look of a watch, that finds it changed (where the file system can, without
// copying its bytes), as every live database must be. Of the copy keys are
// read, by their index, from composerData: to the end of that range and from
// bubbleId: of each composer: a write gives a row another rowid, so these tell
// which sessions are as they were. Only of the others are values read, one row
// at a time. Of 0.9 GB with 20,000 messages (on two slow cores): 8 s for the
// first import, 1.3 s when one message has changed, nothing when none has;
// and room for the copy. No workspace's list is read where there is composerHeaders; else
// each, of at most 500 and 64 MB, is copied too.
//
// # Command line
//
// ~/.cursor/chats/<MD5 of the folder>/<session>/store.db ($CURSOR_CONFIG_DIR in
// place of ~/.cursor): blobs(id, data), id being the SHA-256 of data, and
// meta(key, value), whose row 0 is hexadecimal JSON {agentId, latestRootBlobId, name,
// mode, createdAt (ms), lastUsedModel}. The root is in the wire format of
// protocol buffers: field 1 the hashes of the messages in their order, field 9 the
// folder as a URI; messages are JSON as the AI SDK has it, {role, content}. In a root
// without field 1 hashes are followed through all fields, 8 deep. The rows of the
// session come in that order; a message that comes again in the same words, of
// which there is one row, has a line {"again":ID,"data":…}. Other blobs, older
// roots among them, are kept in the source "".
//
// # Transcripts
//
// ~/.cursor/projects/<folder with ->/agent-transcripts/, also in
// ~/.cursor-server: <session>/<session>.jsonl, a sub-agent's in
// <session>/subagents/, older ones beside each other; lines {role, message{content}}
// with Anthropic's blocks, and {type:"turn_ended"}. Older still, .txt: user: or
// assistant: alone on a line, then [Thinking], [Tool call] NAME and [Tool result]
// NAME with indented lines. The folder is workspacePath of .workspace-trusted, or
// what the program told the model. There are no times and no usage. A transcript
// whose session lies in chats/ too is left to that. One whose session the editor
// has becomes a session of its own beside it, its ID with ~ and a hash.
//
// # What becomes of it
//
// What the program puts around a user's words (<user_info>, and all outside of
// <user_query>) is synthetic. A call is said with a tool event and its result; the
// task tools' result names the child. costInCents are steps with that cost.
// Tokens are a message's where it has them, few have.
//
// # Evidence
//
// No database of a person's was at hand: fixture-tested. The shapes are those
// that several public readers and descriptions agree on, checked on 2026-11-21
// (composerData to _v 10, bubbles _v 3, composerHeaders of 2026). Not verified:
// the fields of the root but 1 and 9, what subagentInfo is called in store.db,
// and chats of the editor from before the composer (2023-2024,
// workbench.panel.aichat), which are not read.
package cursor
