// Package transcript makes what a page shows of a session: [Windows] reads a
// piece of it, and a [Maker] turns that into a [Transcript], whose fields and
// methods templates use. Everything in it is text from package render, safe to
// show whatever the session contains.
package transcript
