// Package copilotvscode reads the chat sessions of GitHub Copilot in VS Code.
//
// # Where
//
// Under the editor's User folder (~/.config/Code/User and, for its other
// builds, Code - Insiders and VSCodium; ~/Library/Application Support and
// %APPDATA% in place of ~/.config; ~/.vscode-server/data/User on a server):
//
//	workspaceStorage/<hash>/chatSessions/<ID>.json[l]    a session; workspace.json beside that folder names what is open
//	globalStorage/emptyWindowChatSessions/<ID>.json[l]   one of a window without a folder
//
// and wherever a person has exported one to, as chat.json.
//
// # Documents
//
// One JSON document, written anew at each change, version 1 to 3:
//
//	{"version":3,"requesterUsername":…,"responderUsername":…,"requests":[…],"sessionId":…,"creationDate":ms,
//	 "lastMessageDate":ms,"customTitle":…}
//
// It is read request by request, so what has changed in one is an amendment of
// that one:
//
//	{"requestId","timestamp","modelId","message":{"text"},"variableData":{"variables":[…]},"response":[…],
//	 "result":{"metadata":{"toolCallRounds":[…],"toolCallResults":{…}},"errorDetails":{…},"details"},"isCanceled"}
//
//	message, variableData  said by the person; variables are files, images ($base64), or kept as they are
//	toolCallRounds         said by the model, round by round: thinking, response, toolCalls. toolCallResults has the
//	                       answers by the call's ID: texts, or the elements of a prompt, of which the texts are taken
//	response               what the screen showed; it is read where there are no rounds, and behind the last tool where
//	                       the rounds have no answer. Tools that it shows have no input, and a phrase for an answer
//	result                 a step with usage, where newer versions state it, and errorDetails; the rest (details has the
//	                       model's price in requests) is noted
//
// customTitle is taken for a model's, which it is unless a person has changed
// it. modelId is who serves the model, a slash and its name; copilot is the
// provider github-copilot.
//
// # Logs
//
// Since the beginning of 2026 sessions are in <ID>.jsonl in the same folders: a
// log of changes to such a document, JSON Lines:
//
//	{"kind":0,"v":{…}}               the whole
//	{"kind":1,"k":[…],"v":…}         v in the place that the path k leads to: names and numbers
//	{"kind":2,"k":[…],"v":[…],"i":N} v at the end of the list at k, which is cut off at i before, if that is there
//	{"kind":3,"k":[…]}               what k leads to is gone
//
// A request that has changed is amended; where requests are cut off, or another
// one comes in the place of one, it is a rewind. After 512 changes the log is
// written anew, as one line: what it has of what was there is the same.
//
// # Evidence
//
// Seen on a real file: a document of version 3 (November 2025). Usage, images
// and requests without rounds are tested on files made for it only, and so are
// logs, by src/vs/workbench/contrib/chat/common/model/objectMutationLog.ts of
// https://github.com/microsoft/vscode, read on 2026-11-21.
package copilotvscode
