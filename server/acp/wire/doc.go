// Package wire finds, in a line of the Agent Client Protocol, what a relay must know:
// the JSON-RPC messages in it, and where session IDs are. It does not change any other
// byte, and knows no version of the protocol.
//
// A line usually has one message. It may have a batch (a JSON array of messages), or
// several values one after the other. Session IDs are the strings at
//
//	params.sessionId, result.sessionId        most requests and answers
//	result.sessions[].sessionId               session/list
//	params.update.sessionId                   subagent_update
//	params.update.senderSessionId             session_message
//	params.update.recipientSessionId          session_message
//
// as in the schema of the npm package @agentclientprotocol/sdk 2.4.0, v1 and v2,
// stable and unstable (read on 2026-11-23).
package wire
