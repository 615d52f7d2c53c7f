// Package writeback writes sessions as files of their programs. [Export] writes a
// session to where it does not exist yet, [Sync] writes what is new in a session into
// the source that it came from, and [WriteSource] writes a source again from its stored
// records, byte for byte.
package writeback
