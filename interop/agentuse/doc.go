// Package agentuse reads the session folders of AgentUse.
//
// A session is a folder below project/<hash>/session/:
//
//	<ULID>-<agent>/session.json
//	               tools.json, context.json
//	               <message>/message.json
//	               <message>/part/<part>.json
//	               <message>/artifact/…
//	               subagent/<ULID>-<agent>/…   sessions of their own
//
// Files are JSON with an indent of two and no line feed at the end, written
// beside their place and renamed. A message is a whole exchange: what was asked
// and, in its parts, what the agent said and did, in the order of their times,
// which within a millisecond is arbitrary; they are read by their names, ULIDs.
//
// A folder is one unit with one source; what lies in subagent is other units'.
package agentuse
