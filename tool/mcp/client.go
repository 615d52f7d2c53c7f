package mcp

import "github.com/modelcontextprotocol/go-sdk/mcp"

var _ = mcp.NewClient
