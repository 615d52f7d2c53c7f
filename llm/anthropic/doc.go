// Package anthropic reaches Anthropic's models by the Messages API, through
// Anthropic's own client library (checked 2026-11 with version 1.84).
//
// What stays the same from one request to the next is marked for Anthropic's
// prompt cache: the tools and the system prompt, and the conversation up to
// the last message. Reasoning goes back as it came, signature and all. The
// library's own retries are off, and nothing is read from the environment.
package anthropic
