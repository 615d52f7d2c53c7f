// Package edits finds what tool calls do to files: which lines they put into which file,
// and which they take out. It knows the inputs of the agents' editing tools by their
// shape, not by the name of the tool: a path with an old and a new text, a path with a
// content, a patch; and, of a shell command, the here-documents that it writes to files, the
// patches that it applies,
// the files that it moves or deletes, and the commits that it made.
package edits
