// Package discord is a bot of Discord as a surface of the gateway.
//
// It answers direct messages, and what mentions it in a channel; the key is
// discord:CHANNEL. A connection that breaks off is resumed. Discord keeps
// nothing for a bot that does not run: the last message of each channel is kept
// in a file, and what came after it is asked for at the next start. So only the
// first message of a channel can be lost, if it comes while nothing runs.
// Answers are Markdown, split at 2,000 characters; they mention nobody.
//
// Described at https://discord.com/developers/docs, API version 9 (2026-11-21).
package discord
