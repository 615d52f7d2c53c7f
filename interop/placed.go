package interop

import (
	"bytes"
)

// A PlacedFile is a kind of file that a format knows by its place: one of the files of a
// session's folder, a database, a log beside one. If the user names such a file where
// the program would not keep it, its content decides: it is read alone, as if it were
// in its place and nothing beside it.
type PlacedFile struct {
	Name string // what its program calls it, for people: transcript.jsonl

	// Path is where the file would be if it were the only one of a new session, with
	// slashes; each * stands for the name that the file has. Unit must know it. "" says
	// that the file holds no conversation, or is of the program that Is names: it is
	// named, and never read alone.
	Path string

	// Is says by the file's first bytes, as for Match, how sure the format is: a file
	// that is Known is read, one that is Alike is read only if the user names the format.
	// nil: the first bytes do not say.
	Is func(head []byte) Guess

	// Beside, if not "", says that the file belongs to the sessions beside it, such as what
	// is read by [File.Beside]: the end of its path, as a pattern of [path.Match]. It does
	// not count as a file that no format recognizes.
	Beside string
}

// StartsWith is a PlacedFile.Is for JSON documents: it knows those that have all these texts
// near their beginning, and that begin with start.
func StartsWith(start, why string, signs ...string) func(head []byte) Guess {
	return func(head []byte) Guess {
		text, ok := bytes.CutPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte(start))
		for _, sign := range signs {
			ok = ok && bytes.Contains(text, []byte(sign))
		}
		if !ok {
			return Guess{}
		}
		return KnownBy(why)
	}
}
