// Package discord is a Discord bot as a surface of the gateway.
//
// It answers direct messages, and messages in a channel that mention it; the
// key is discord:CHANNEL. A broken connection is resumed. Discord keeps nothing
// for a bot that is not running: the last message of each channel is kept in a
// file, and those after it are requested at the next start. So only the first
// message of a channel can be lost, if it comes while the bot is not running.
// Answers are Markdown, split at 2,000 characters; they mention nobody.
//
// See https://discord.com/developers/docs, API version 9 (2026-11-21).
package discord
