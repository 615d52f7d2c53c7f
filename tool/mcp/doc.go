// Package mcp lends an agent the tools of servers that speak the Model Context
// Protocol.
package mcp
