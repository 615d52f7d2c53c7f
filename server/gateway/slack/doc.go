// Package slack is an app of Slack, in socket mode, as a surface of the gateway.
//
// It answers direct messages, and what mentions it in a channel; its slash
// command /skein, where the app has one, is another way to write /new: /skein
// new. Slack is told that an event arrived only after it was written down, and
// sends it again if it is not told. The key is slack:CHANNEL, in a thread
// slack:CHANNEL:THREAD. Answers are sent as Markdown, split at 12,000 bytes.
//
// Described at https://docs.slack.dev/apis/events-api/using-socket-mode
// (2026-11-21).
package slack
