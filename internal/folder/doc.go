// Package folder gives a tree of files as lines of JSON that hold everything,
// and makes the tree of such lines again.
//
// A file stands in one line:
//
//	{"file":"part/a.json","mode":"0600","mtime":1795230386350000000,"text":"{\n  \"id\": …"}
//
// mode is the permission bits in octal, mtime nanoseconds since 1970. Bytes
// that are not UTF-8 stand as "bytes" in base64 in place of "text". Where a file
// grows by lines, each of these has a line of its own, so that a longer file
// shares them, and the file's line says how many they are:
//
//	{"file":"log.jsonl","line":0,"text":"{}\n"}
//	{"file":"log.jsonl","mode":"0600","mtime":1795230386350000000,"lines":1}
//
// A folder, "." for the root, is
//
//	{"folder":"part","mode":"0700","mtime":1795230386350000000}
//
// Only regular files and folders are read: links, FIFOs and devices are named
// in [Tree.Skips]. How deep, how many and how large is bounded. When a tree is
// written no name leads out of it, whatever links there are, and every file is
// written beside its place and put there by renaming.
package folder
