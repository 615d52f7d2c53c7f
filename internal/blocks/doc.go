// Package blocks reads the content of messages in the formats of Anthropic's API and
// Vercel's AI SDK, which many agents store as they sent or received it: a string, or
// an array of
//
//	Anthropic   text, thinking, redacted_thinking, tool_use, tool_result, image, document
//	AI SDK      text, reasoning, redacted-reasoning, tool-call, tool-result, image, file
//
// or of both at once. A block of another type, or one that does not fit its type,
// becomes a part of kind other with its bytes unchanged.
package blocks
