// Package mcp lends an agent the tools of servers that speak the Model Context
// Protocol.
//
// A server is a program of this machine, spoken to over its standard input and
// output, or a URL (streamable HTTP). It is connected to when its tools are
// asked for, and again if it went away meanwhile, and ended by [Set.Close]. A
// program inherits no descriptors of ours, and of our environment only what
// every program needs; what else it is to know stands in [Server.Env].
//
// A tool is called SERVER__TOOL, with _ for what no provider takes in a name.
// What it says of itself is believed as far as the person who named the server
// does: one that says that it only reads is not asked about.
package mcp
