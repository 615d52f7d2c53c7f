// Package provenance says which session wrote a line of a file. A [Tracer] asks a
// store which tool calls changed the file and Git which commit each line is from, and
// decides by the rules of [Attributor]: a line is a session's if the session put this text into this file before
// the commit, or, failing that, on weaker evidence, which the answer names.
package provenance
