// Package fileid says by what the file system knows a file or folder, whatever its name
// is, and when it was made.
package fileid
