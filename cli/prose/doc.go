// Package prose shows Markdown on a terminal.
//
// A block never looks back or ahead: how it is shown does not depend on what
// comes after it, so a text that is still being written can be shown block by
// block (a [Stream]) and ends as the whole would look. For that, links
// that name a reference ([text][name]) stay as they were written.
//
// The text is nobody's: package render cleans it of what a terminal obeys.
package prose
