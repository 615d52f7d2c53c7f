// Package prose shows Markdown on a terminal.
//
// How a block is shown does not depend on the blocks before or after it, so text
// that is still being written can be shown block by block (a [Stream]), with the
// same result as the whole text. For that reason, links that refer to a definition
// ([text][name]) stay as they were written.
//
// The text is untrusted: package render cleans it of terminal escape sequences.
package prose
