// Package openai reaches OpenAI's models by the Responses API, and those of
// compatible servers by the Chat Completions API: Ollama, vLLM, OpenRouter, a
// local server (checked 2026-11).
//
// Nothing is stored at OpenAI (store is false): reasoning comes encrypted and
// is sent back unchanged.
//
// Servers that speak Chat Completions differ. Accepted are: reasoning in
// reasoning_content or reasoning; no usage and no request ID; calls without an
// ID, or several with one index; calls that come whole.
package openai
