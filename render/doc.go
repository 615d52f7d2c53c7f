// Package render shows messages: a session as a Markdown, HTML or JSON
// document, and text from transcripts on a terminal.
//
// # What is trusted
//
// Nothing in a session is trusted: not the text, not titles, not names of
// tools, files or models. [Clean] is the one place where text is made safe for
// a terminal. The HTML is one file that runs no script, loads nothing and says
// so to the browser in a content security policy: Markdown is rendered by
// goldmark, which here outputs markup in the text as text and code with spans
// for color, and then passed through a sieve, which lets only expected markup
// through. Everything else is escaped.
//
// # Anchors
//
// In both the Markdown and the HTML the message whose first event is 12 has
// the anchor seq-12.
//
// Documents are written as the entries come: a session need not fit in memory.
package render
