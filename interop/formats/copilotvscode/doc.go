// Package copilotvscode reads the chat sessions of GitHub Copilot in VS Code.
//
// # Where
//
// Under the editor's User folder (~/.config/Code/User and, for its other
// builds, Code - Insiders and VSCodium; ~/Library/Application Support and
// %APPDATA% in place of ~/.config; ~/.vscode-server/data/User on a server):
//
//	workspaceStorage/<hash>/chatSessions/<ID>.json[l]    a session; workspace.json beside that folder names the open folder
//	globalStorage/emptyWindowChatSessions/<ID>.json[l]   one of a window without a folder
//
// and wherever the user exported one, as chat.json.
//
// # Documents
//
// One JSON document, rewritten at each change, version 1 to 3:
//
//	{"version":3,"requesterUsername":…,"responderUsername":…,"requests":[…],"sessionId":…,"creationDate":ms,
//	 "lastMessageDate":ms,"customTitle":…}
//
// It is read request by request, so a request that changed is amended:
//
//	{"requestId","timestamp","modelId","message":{"text"},"variableData":{"variables":[…]},"response":[…],
//	 "result":{"metadata":{"toolCallRounds":[…],"toolCallResults":{…}},"errorDetails":{…},"details"},"isCanceled"}
//
//	message, variableData  said by the user; variables are files, images ($base64), or kept unchanged
//	toolCallRounds         said by the model, round by round: thinking, response, toolCalls. toolCallResults has the
//	                       answers by the call's ID: texts, or the elements of a prompt, whose texts are used
//	response               what the screen showed; it is read if there are no rounds, and after the last tool if
//	                       the rounds have no answer. Tools in it have no input, and a phrase as their answer
//	result                 a step with usage, which newer versions state, and errorDetails; the rest (details has the
//	                       model's price in requests) is noted
//
// customTitle is attributed to a model, which is right unless the user changed it.
// modelId is the provider, a slash and the model's name; copilot is the provider
// github-copilot.
//
// # Logs
//
// Since the beginning of 2026 sessions are in <ID>.jsonl in the same folders: a
// log of changes to such a document, JSON Lines:
//
//	{"kind":0,"v":{…}}               the whole
//	{"kind":1,"k":[…],"v":…}         sets the value at path k, of names and numbers, to v
//	{"kind":2,"k":[…],"v":[…],"i":N} appends v to the list at k, which is first cut off at i, if given
//	{"kind":3,"k":[…]}               removes the value at k
//
// A request that changed is amended; if requests are cut off, or one replaces
// another, that is a rewind. After 512 changes the log is rewritten as one line: the
// part of it that was read before is recognized.
//
// # Evidence
//
// Seen on a real file: a document of version 3 (November 2025). Usage, images and
// requests without rounds are tested only on made-up files, and so are logs, by
// src/vs/workbench/contrib/chat/common/model/objectMutationLog.ts of
// https://github.com/microsoft/vscode, read on 2026-11-21.
package copilotvscode
