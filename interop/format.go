package interop

import (
	"context"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/interop/reconcile"
)

// CreatedID is the client ID of the created event of imported sessions.
const CreatedID = reconcile.CreatedID

// A Format knows one program's session files. Its functions may be called from
// several goroutines; what Open returns is used by one at a time.
type Format struct {
	Name string // what a person types, and skein.Origin.Format: claude-code
	Doc  string // one line for the help text

	// Places returns the files and folders where the program keeps its
	// sessions, absolute; they need not exist. If several settings name one
	// (such as an environment variable), only the one in effect is returned.
	Places func(Home) []string

	// Match reports how likely a file of lines is one of this format's: by its
	// content, whatever its name; by name and place only if the content does not
	// say. The file goes to the format that is surest. path is absolute, with
	// slashes; head is the file's first bytes, up to 4096; an empty file has no
	// head. For a packed file, Match is given the name and head of the unpacked
	// file: see the package comment. nil if the format has no files of lines.
	Match func(path string, head []byte) Guess

	// Kin are other programs that write files of the same shape.
	Kin []SimilarProgram

	// Order, if not nil, defines the order in which files and units are read, if
	// their paths show which is older: they are sorted by what it returns, called
	// once for each path. Without it, the file that was changed last comes last.
	// A file has to come before those that repeat its records or depend on it.
	Order func(path string) string

	// Open returns a reader for a file, before its first record.
	Open func(File) Reader

	// Unit, if not nil, is for programs whose sessions are in folders or
	// databases: it returns the path of the unit that a file belongs to, by the
	// file's path alone (both absolute, with slashes), and "" for a file that
	// belongs to no unit. For a database it returns the database's own path, also
	// for its -wal, -shm and -journal.
	Unit func(path string) string

	// Around, if not nil, returns the folders that contain files of a unit that
	// is itself a file, such as the logs beside a database: absolute, with
	// slashes, like the unit.
	Around func(unit string) []string

	// Look opens a unit, whose sources are then read as files are: Open is
	// called for each. The error wraps [ErrOther] if the unit is not one of
	// the format's; others say why it cannot be read now.
	Look func(ctx context.Context, path string) (Unit, error)

	// Document, if not nil, recognizes the format's documents and databases by
	// their content, whatever their names. Its arguments are those of Match. It is
	// called for files that are not units by their path, or that turn out not to be
	// the unit that Unit says. A file that it accepts is opened with Look, as a unit.
	Document func(path string, head []byte) Guess

	// PlacedFiles are the kinds of files that the format knows by their place, but that a
	// person may name anywhere.
	PlacedFiles []PlacedFile

	// Replaces, if not nil, reports whether the unit at path now holds what
	// the one at old does, although that still exists: the program moved its
	// files into a database, and left them. What was read from old continues
	// with path. Both are absolute, with slashes.
	Replaces func(path, old string) bool

	// Below returns where a file or unit is below the home of its program
	// (such as ~/.codex), with slashes: sessions/2026/a.jsonl. It uses the path
	// alone, absolute and with slashes, and returns "" if the path does not say.
	// nil: the base name.
	Below func(path string) string

	// Finds, if not nil, reports whether the program can continue a session
	// whose file is at this path below its home, with slashes: by its name and,
	// if relevant, the folder. nil: it finds everything in its Places.
	Finds func(path string, s skein.Session) bool

	// Write, if not nil, turns a session into lines that the program can open
	// and continue, and from which Open's reader reads the same conversation.
	// It writes nothing itself. An error that wraps [skein.ErrInvalid] says that
	// the program cannot have such a session.
	Write func(ctx context.Context, d Draft) (Written, error)

	// Put writes streams into the unit at path, absolute, which may not exist
	// yet: the inverse of Look. It is [PutFolder] or [PutDatabase], unless the
	// program has rules of its own, such as a backup. nil if there are no
	// units.
	Put func(ctx context.Context, path string, parts []Part) error

	// Lock, if not nil, takes the program's own lock on a session while the
	// session is written to. The error wraps [skein.ErrLocked] if the program
	// has it open.
	Lock func(ctx context.Context, path, name string) (unlock func() error, err error)

	// Resume, if not nil, returns the command line that continues a written
	// session in the program, and the folder to run it in.
	Resume func(w Spot, s skein.Session) (command []string, dir string)

	// Load, if not nil, is used instead of Open, for files that hold events
	// as they are: it imports a whole file by itself. An error that wraps
	// [skein.ErrInvalid] or [skein.ErrNewer] concerns this file only.
	Load func(context.Context, Whole) (Took, error)
}

// Home is where a format looks for its Places.
type Home struct {
	Dir string                   // the user's home folder, absolute
	Cwd string                   // working directory, absolute; "" if not known
	Env func(name string) string // such as os.Getenv
}

// A File is what a reader knows about its file.
type File struct {
	Path string // absolute, with the system's separators; for a unit, the unit's; for a packed file, without .gz or .zst
	Name string // of the source, in a unit
	Unit bool   // the file is a source of a unit, not a file of lines

	// Beside returns the bytes of a small file by its path relative to the
	// folder of Path, or to Path if that is a folder. It returns false if the
	// file cannot be read, is not a regular file or is longer than 1 MB. Only for
	// files that do not change while the session continues: otherwise the import
	// would depend on when it ran.
	Beside func(rel string) ([]byte, bool)
}

// A Reader turns the records of one file into events. It is given each record
// once, in order, from the first.
type Reader interface {
	// Read returns what it makes of the next record. It must not keep any part
	// of l, but what it returns may point into l.Body.
	//
	// An error says that the record is damaged and yields no events, in words
	// for people, such as "invalid character at byte 17": the record is kept,
	// counted and named, and reading continues with the next.
	Read(l Line) (Made, error)
}

// A Line is one record as a reader sees it: JSON text that is neither blank
// nor cut off.
type Line struct {
	N      int    // record: 0 for the first of its file; blank and damaged ones count too
	Number int    // line in the file, 1 for the first; two records can share one
	Body   []byte // one JSON value: no BOM, no space or NUL around it, valid UTF-8, at most MaxDepth deep; not yet checked otherwise

	// Run says that the record continues a run of unknown ones, of which one
	// was noted: if the format does not know this one either, it makes no event.
	// See Made.Unknown.
	Run bool
}

// MaxDepth is how deep a record may be nested. A deeper one counts as damaged:
// an event cannot hold it.
const MaxDepth = 4096

// MaxRecords is how many records are read from one file or source: each takes
// memory, however short it is.
const MaxRecords = 1_000_000

// MaxRecord is the longest record that is read, in bytes. A longer one is kept
// in pieces of at most 1 MB, as damaged.
const MaxRecord = 20 << 20

// Made is what a reader makes of one record.
type Made struct {
	Key skein.ClientID // see the package comment; "" if it makes no events; at most 100 bytes

	// CopyKey is the key that the record had in the file that this one may
	// be a copy of, if it differs from Key.
	CopyKey skein.ClientID

	// Floating says that the record is about the file, not a step of the
	// conversation (a title, a mode): by itself it neither begins a session
	// nor proves that the file is more than a copy.
	Floating bool

	Begin  []Begin // sessions that begin with this record, before the items
	Items  []Item  // its events, in order
	Apart  []Apart // events for other sessions that this record only mentions
	Damage string  // what is wrong with it, although it was read; "" if nothing

	// Unknown says that the format knows nothing about the record except that
	// it is one, so it can only be noted. In a run of such records one is noted,
	// and another one every so many bytes: the reader makes no event from a
	// record whose Line.Run is set, or junk would cost many times its bytes. A
	// record is not unknown if the format knows its type as one to be noted.
	Unknown bool

	// Instead says that the record replaces records that its program has
	// removed, such as what a compaction left. Their events stay; a compacted
	// event covers them; a message equal in all to one that the session has
	// already is not said again.
	Instead bool
}

// A Begin starts a session. The file's main session must begin with the first
// record that makes items for it; the engine may create it later (see Copies
// in the package comment). If there are several Begins before that, the last
// one counts.
type Begin struct {
	Name    string          // "" for the file's main session, else what Item.Session says; unique in the file
	ID      skein.SessionID // wanted; if it is taken, the engine appends ~ and a hash
	Time    skein.Time
	Created skein.Created // without Origin.Path; the engine fills in Origin and what the fields below say

	// Is reports whether a folder is the one that the session worked in, if the records
	// only identify it, such as by a hash: then Created has neither Project nor Cwd, and
	// the engine tries the folders that are known here. nil if they say more, or less.
	Is func(dir string) bool

	// Of says that it is a child: the name of its parent session in this file.
	// The engine then fills in Created.Parent.Session and, from At (an ordinal
	// as in Item.To), Seq. The reader sets Why and Call.
	Of string
	At int

	// ParentID names a parent session in another file, by its ID in its own
	// program: the engine fills in Created.Parent.Session, and Seq and Call if
	// it finds a tool event there whose Child is this session. Created.Parent
	// must not be nil in both cases.
	ParentID string
}

// An Item is an event and the session that it belongs to.
//
// The items of a session have ordinals: 1 for the first that the reader returned
// for that session, not counting created, and so on. A reader must count them
// to refer to positions, for only the store knows the seqs.
type Item struct {
	Session string      // name of a Begin in this file; "" for the main session
	Event   skein.Event // without Seq and ClientID
	Blobs   []skein.Blob

	// To is for rewound, compacted and amended events: the ordinal whose seq
	// goes into the payload, where it is missing. It belongs to an earlier
	// record; 0 is the beginning.
	To int
}

// An Apart is an event for whichever session has the record Of, in this file or
// another, read before or after this one: a title that one file gives to a
// session in another. It has no ordinal and comes in addition to the record's
// items. The engine appends it once, at the end of an import that knows that record.
type Apart struct {
	Of    skein.ClientID // Key of the record
	Event skein.Event    // titled, changed or noted; without Seq and ClientID
}
