// Package folder reads a tree of files as lines of JSON that have everything, and
// writes the tree from such lines.
//
// A file is one line:
//
//	{"file":"part/a.json","mode":"0600","mtime":1795230386350000000,"text":"{\n  \"id\": …"}
//
// mode is the permission bits in octal, mtime nanoseconds since 1970. Bytes that are
// not UTF-8 are "bytes" in base64 instead of "text". If a file grows by lines, each of
// them has a line of its own, which a longer version of the file shares, and the
// file's line says how many there are:
//
//	{"file":"log.jsonl","line":0,"text":"{}\n"}
//	{"file":"log.jsonl","mode":"0600","mtime":1795230386350000000,"lines":1}
//
// A folder, "." for the root, is
//
//	{"folder":"part","mode":"0700","mtime":1795230386350000000}
//
// Only regular files and folders are read: links, FIFOs and devices are listed in
// [Tree.Skips]. Depth, number and size are limited. When a tree is written, no name
// leads out of it, whatever links there are, and every file is written under a
// temporary name and renamed into place.
package folder
