// Package telegram is a Telegram bot as a surface of the gateway.
//
// It receives updates by long polling, and confirms one only after it was
// written to the inbox; so Telegram keeps updates while the bot is not running.
// The key of a chat is telegram:BOT:CHAT, or telegram:BOT:CHAT:THREAD for a
// topic of a forum. Answers are split at 4096 UTF-16 units and sent as HTML; if
// Telegram cannot parse that, as plain text.
//
// See https://core.telegram.org/bots/api, version 9.x (2026-11-21).
package telegram
