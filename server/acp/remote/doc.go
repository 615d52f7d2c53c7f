// Package remote serves the Agent Client Protocol over WebSocket and HTTP, at /v1/acp: a
// phone, a second editor or a colleague attaches to a session, sees it stream, answers
// what its agent asks, and sends prompts. It follows the draft of the protocol's remote
// transport (https://agentclientprotocol.com/rfds/streamable-http-websocket-transport,
// read on 2026-11-24).
//
// A session that a program of this machine has open is followed as it happens, through
// package live; any other one by what is stored. Each update that ends at a place where
// a client can continue has a cursor in _meta.skein.cursor. It is the seq of an event,
// which may be followed by a hub and the number of an update:
//
//	12            the events up to 12 were shown
//	12.HUB.40     of the updates of the hub, those up to 40 were shown too
package remote
