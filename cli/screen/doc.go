// Package screen is a conversation's terminal: a line editor, Markdown that
// streams in, a line that says what goes on, and questions. It knows nothing
// of sessions and models.
//
// [Open] gives one for a person at a terminal. What is said stays in the
// terminal's scrollback, as if it had been printed; only the last lines, where
// a person types, are drawn anew. [Plain] gives one for a pipe, or a terminal
// that obeys no escape sequences: lines in, plain text out.
//
// What is handed to Say is nobody's text, and cleaned here; for what is printed
// its caller vouches.
package screen
