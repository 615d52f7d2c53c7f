// Package rpclines reads the JSON-RPC messages that a program writes, one a line.
// What is no message is set aside, and the next line is read: MCP's SDK ends a
// connection at the first line that it cannot read, and at a batch.
package rpclines
