// Package anthropic reaches Anthropic's models by the Messages API (checked
// 2026-11 against version 2023-06-01 of it).
//
// What stays the same from one request to the next is marked for Anthropic's
// prompt cache: the tools and the system prompt, and the conversation up to the
// last message. Reasoning is sent back unchanged, with its signature.
package anthropic
