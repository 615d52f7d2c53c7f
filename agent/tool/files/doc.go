// Package files has the tools by which a model reads, writes, lists and
// searches files: read_file, write_file, edit_file, list_files, search_files.
//
// Paths are relative to the call's folder; ~ is the user's home. A person is
// asked before anything is written outside that folder, symbolic links
// followed, or where writing means more than it seems (.git, .skein), and
// before a file is read that is known to hold secrets. What lists and searches
// leaves out what git ignores, unless told otherwise, and never looks into
// such files.
package files
