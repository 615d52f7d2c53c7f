// Package blocks reads the content of messages as Anthropic's API and Vercel's
// AI SDK have it, which many agents keep as they sent or got it: a string, or
// an array of
//
//	Anthropic   text, thinking, redacted_thinking, tool_use, tool_result, image, document
//	AI SDK      text, reasoning, redacted-reasoning, tool-call, tool-result, image, file
//
// both at once too. A block of another type, or one whose shape is not that of
// its type, becomes a part of kind other with its bytes as they stand.
package blocks
