// Package render shows messages: a session as a Markdown, HTML or JSON
// document, and text from transcripts on a terminal.
//
// # What is trusted
//
// Nothing of a session is: not the text, not titles, not names of tools, files
// or models. [Clean] is the one place where text is made fit for a terminal.
// The HTML is one file that runs no script, asks for nothing from anywhere and
// says so to the browser in a content security policy: Markdown goes through
// goldmark, which here writes markup that it finds in the text as text and
// code with spans to colour it, then through a sieve, which lets through only what
// we expect. Everything else is escaped.
//
// # Anchors
//
// In both the Markdown and the HTML the message whose first event is 12 has
// the anchor seq-12.
//
// Documents are written as the entries come: a session need not fit in memory.
package render
