// Package openai reaches OpenAI's models by the Responses API, and by the Chat
// Completions API those of everybody who speaks it: Ollama, vLLM, OpenRouter,
// a local server (checked 2026-11).
//
// Nothing is kept at OpenAI (store is false): reasoning comes encrypted, and
// goes back as it came.
//
// Servers that speak Chat Completions differ. Taken as they come are: reasoning
// in reasoning_content or reasoning; no usage and no request ID; calls without
// an ID, or several with one index; calls that come whole.
package openai
