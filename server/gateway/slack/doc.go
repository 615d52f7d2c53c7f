// Package slack is a Slack app, in socket mode, as a surface of the gateway.
//
// It answers direct messages, and messages in a channel that mention it. Its
// slash command /skein, if the app has one, is another way to write /new:
// /skein new. An event is acknowledged to Slack only after it was written to
// the inbox; otherwise Slack sends it again. The key is slack:CHANNEL, or
// slack:CHANNEL:THREAD in a thread. Answers are sent as Markdown, split at
// 12,000 bytes.
//
// See https://docs.slack.dev/apis/events-api/using-socket-mode (2026-11-21).
package slack
