// Package files has the tools with which a model reads, writes, lists and
// searches files: read_file, write_file, edit_file, list_files, search_files.
//
// Paths are relative to the call's folder; ~ is the user's home. A person must
// approve writing outside that folder (after following symbolic links) or where
// writing may do more than it seems to (.git, .skein), and reading a file that
// is known to hold secrets. Listing and searching skip files that git ignores,
// unless told otherwise, and never read files known to hold secrets.
package files
