// Package mcp gives an agent the tools of servers that speak the Model Context
// Protocol.
//
// A server is a program on this machine, which speaks over its standard input
// and output, or a URL (streamable HTTP). It is connected when its tools are
// needed, reconnected if the connection was lost, and ended by [Set.Close]. A
// program inherits no file descriptors, and only those environment variables
// that every program needs; [Server.Env] adds others.
//
// A tool is called SERVER__TOOL, with _ for characters that providers do not
// accept in a name. Its description of itself is trusted as far as the person
// who named the server trusts it: a tool that says it only reads runs without
// approval.
package mcp
