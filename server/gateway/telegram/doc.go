// Package telegram is a bot of Telegram as a surface of the gateway.
//
// It asks for updates by long polling, and confirms one only after it was
// written down; so Telegram keeps what comes while nothing runs. The key of a
// chat is telegram:BOT:CHAT, or telegram:BOT:CHAT:THREAD for a topic of a forum.
// Answers are split at 4096 UTF-16 units and sent as HTML; if Telegram cannot
// read that, as they are.
//
// Described at https://core.telegram.org/bots/api, version 9.x (2026-11-21).
package telegram
