// Package record keeps what an editor and an agent say to each other, in the Agent
// Client Protocol, as the events of a session.
//
//	in the protocol                      event
//	session/prompt                       said: user; files and resources as blobs
//	agent_message_chunk, …_thought_chunk said: assistant; pieces put together
//	tool_call, tool_call_update          said: the call; tool: its states; said: its result
//	session/request_permission           tool: pending with the question; noted: what was decided
//	the answer to session/prompt         step: stop reason, usage, error
//	session_info_update with a title     titled
//	compaction_update, completed         compacted
//	all other updates and requests       noted, whole, named acp:METHOD or acp:UPDATE
//
// A message is stored when it is complete, since events are never changed. What the
// events do not have room for, such as the kind of a tool, is in the member acp of
// their metadata, so that [Replay] says the same again.
package record
