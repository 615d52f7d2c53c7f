// Package screen is the terminal of a conversation: a line editor, streamed
// Markdown, a status line, and questions. It does not depend on sessions or models.
//
// [Open] returns a screen for a person at a terminal. The conversation stays in the
// terminal's scrollback, as if it had been printed; only the last lines, where the
// person types, are redrawn. [Plain] returns one for a pipe, or for a terminal
// without escape sequences: it reads lines and writes plain text.
//
// Text passed to Say is untrusted and is cleaned here; the caller of Print must
// pass clean text.
package screen
