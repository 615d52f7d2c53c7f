// Package roster knows who can answer in a thread: agents by name or file,
// models by provider:model, tools by name. It reads agent files, finds keys and
// assembles an [agent.Agent]; every provider and every tool is wired here.
//
// # Agent files
//
// An agent is a Markdown file, NAME.md, that begins with YAML between two lines
// of three hyphens:
//
//	---
//	name: reviewer                  # the file's name, if none is given
//	description: reads a change and says what is wrong with it
//	model: anthropic:claude-sonnet-4-5
//	tools: [read_file, list_files, search_files]
//	mcp_servers:
//	  issues:
//	    command: issue-server
//	    args: [--read-only]
//	    env: {ISSUES_TOKEN: "${ISSUES_TOKEN}"}
//	subagents: [tester, docs/writer.md]
//	timeout: 5m                     # of a turn; a number is seconds
//	max_steps: 20                   # model requests in a turn
//	---
//	You review changes. Be short.
//
// Everything in it is optional; the text is the system prompt. Without tools
// the agent has the default ones; "tools: []" gives it none. Unknown keys are
// reported and ignored.
//
// A file NAME.agentuse is in AgentUse's format: its text is the task, the first
// user message, to which a prompt is added; there is no system prompt. Its keys
// are maxSteps, mcpServers, subagents (a list of path and name), timeout in
// seconds, and tools with the groups filesystem and bash.
package roster
