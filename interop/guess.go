package interop

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/skein-dev/skein/internal/foreign"
	"github.com/skein-dev/skein/internal/loose"
	"github.com/skein-dev/skein/interop/disk"
)

// Sure is how sure a format is that a file is its own.
type Sure int

// From not at all to what cannot be another program's.
const (
	No     Sure = iota
	Alike       // it has the shape of the format's files, but is another program's
	Placed      // its name or place is that of the format's files, and its content does not contradict it
	Known       // its content says so
)

// A Guess is a format's judgment of a file: how sure it is that this is one of
// its own, and why. The zero value says that it is not.
type Guess struct {
	Sure Sure
	Why  string // for people: its lines have a parentUuid
	Of   string // the program that wrote it, if that is another one than the format's
}

// AtMost returns g, but no surer than sure.
func (g Guess) AtMost(sure Sure) Guess {
	g.Sure = min(g.Sure, sure)
	return g
}

// KnownBy is the guess of a format that knows a file by its content.
func KnownBy(why string) Guess { return Guess{Sure: Known, Why: why} }

// PlacedBy is the guess of a format that knows a file by its name or place.
func PlacedBy(why string) Guess { return Guess{Sure: Placed, Why: why} }

// A SimilarProgram is another program whose files have the shape of a format's. They are
// left alone, and reported as what they are, unless the user asks for them as the
// format's.
type SimilarProgram struct {
	Program string   // what people call it
	Dirs    []string // folders in a path that only it uses: .openclaw
	Signs   []string // what only its files have near their beginning, in lower case and without space between tokens
	Header  []string // what only its files have in their first line, in lower case and without space between tokens
	Except  []string // folders in a path where Header says nothing: the format's own, whose files may have it too
}

// IsDatabase is a Document that accepts any SQLite database except skein's own
// stores, for formats whose Look knows theirs by their tables.
func IsDatabase(_ string, head []byte) Guess {
	if startsDatabase(head) && !foreign.IsStore(head) {
		return PlacedBy("it is an SQLite database")
	}
	return Guess{}
}

func startsDatabase(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// FirstLine returns the first line of a file, without surrounding white space, and
// whether it is one whole JSON value: a document written over several lines begins
// with a part of one.
func FirstLine(head []byte) (line []byte, whole bool) {
	line, _, _ = bytes.Cut(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), []byte("\n"))
	line = bytes.TrimSpace(line)
	return line, json.Valid(line)
}

// HasLine reports whether one of a file's lines, as far as its beginning shows, is an
// object of which is is true. Programs print other text before what they record.
func HasLine(head []byte, is func(line loose.Object) bool) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))) {
		if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("{")) {
			if o, _ := loose.Parse(line); is(o) { // if it is cut off, what there is
				return true
			}
		}
	}
	return false
}

// Printed is a PlacedFile.Is for what a program prints for other programs: lines of which
// one is an object that is recognizes. It has no IDs that a session could be continued by.
func Printed(by, why string, is func(line loose.Object) bool) func(head []byte) Guess {
	return func(head []byte) Guess {
		if !HasLine(head, is) {
			return Guess{}
		}
		return Guess{Sure: Alike, Why: why, Of: by}
	}
}

// IsLines reports whether a file is JSON Lines, as far as its beginning shows. If the
// first line is longer than head, its beginning decides.
func IsLines(head []byte) bool {
	line, whole := FirstLine(head)
	return whole || len(head) >= disk.HeadLen && len(line) > disk.HeadLen/2
}

// IsDocument reports whether a file may be a document or a database.
func IsDocument(head []byte) bool {
	start := bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n")
	return bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("[")) || startsDatabase(head)
}

// A Forced is a file that was taken as the format that the user named, although it
// looks like another's.
type Forced struct {
	Path   string
	Format string // that the user named
	Looks  string // the format, or the program, whose file it looks like
	Why    string // why it looks like that
}

// An Other is a file that looks like a format's but is another program's. It is
// left alone.
type Other struct {
	Path   string
	Format string // the format that it looks like
	Of     string // the program that wrote it
	Why    string // why it is that program's
}

// String says what the file is, and how to import it.
func (o Other) String() string {
	return fmt.Sprintf("a file of %s (%s) that only looks like %s; to import it as that, name the format: --format %s", o.Of, o.Why, o.Format, o.Format)
}
