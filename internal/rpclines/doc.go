// Package rpclines reads the JSON-RPC messages that a program writes, one per line.
// It skips what is not a message, whereas MCP's SDK ends a connection at the first
// line that it cannot read, and at a batch.
package rpclines
