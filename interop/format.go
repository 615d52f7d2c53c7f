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
	// sessions, absolute; they need not exist. Of several settings that name
	// one (such as an environment variable) only the one that counts is
	// returned.
	Places func(Home) []string

	// Match says whether a file of lines is one of this format's: by what is in
	// it, whatever it is called; by name and place only where that does not tell.
	// The file goes to the format that is surest. path is absolute, with slashes;
	// head is the file's first bytes, up to 4096. An empty file has no head. Of a
	// packed file it is told what it would be told of the unpacked one: see the
	// package comment. nil where there are no files of lines.
	Match func(path string, head []byte) Guess

	// Kin are other programs that write files of the same shape.
	Kin []Kin

	// Order, if not nil, says in which order files and units are read, where
	// these tell what is older: by what it returns for their paths, once for
	// each. Without it, the file that was changed last comes last. A file has to come before
	// those that repeat its records or hang on it.
	Order func(path string) string

	// Open returns a reader for a file, before its first record.
	Open func(File) Reader

	// Unit, if not nil, is for programs whose sessions lie in folders or
	// databases: it returns the path of the one that a file belongs to, by
	// the file's path alone (both absolute, with slashes), and "" for a file
	// that belongs to none. Of a database that is its own path, and that of
	// its -wal, -shm and -journal too.
	Unit func(path string) string

	// Around, if not nil, returns the folders in which files of a unit lie that
	// is itself a file, such as the logs beside a database: absolute, with
	// slashes, as the unit is.
	Around func(unit string) []string

	// Look opens a unit, whose sources are then read as files are: Open is
	// called for each. The error wraps [ErrOther] if the unit is none of
	// the format's; others say why it cannot be read now.
	Look func(ctx context.Context, path string) (Unit, error)

	// Document, if not nil, knows the format's documents and databases by what
	// is in them, whatever they are called: it is told what Match is, of files
	// that are no unit by their path, or none of those that Unit says. What it
	// takes is opened with Look, as a unit.
	Document func(path string, head []byte) Guess

	// Replaces, if not nil, reports whether the unit at path now holds what
	// the one at old does, though that is still there: a program put its
	// files into a database, and left them. What was read from old goes on
	// with path. Both are absolute, with slashes.
	Replaces func(path, old string) bool

	// Below returns where a file or unit lies below the home of its program
	// (such as ~/.codex), with slashes: sessions/2026/a.jsonl. It goes by
	// path alone, absolute and with slashes, and returns "" if that does not
	// tell. nil: the base name.
	Below func(path string) string

	// Finds, if not nil, reports whether the program goes on with a session
	// whose file lies at this path below its home, with slashes: by its name,
	// and where that tells, the folder. nil: with all that lies in its Places.
	Finds func(path string, s skein.Session) bool

	// Write, if not nil, makes lines of a session: such that the program
	// opens what they make and goes on with it, and that Open's reader reads
	// the same conversation from them. It writes nothing itself. An error
	// that wraps [skein.ErrInvalid] says that the program can have no such
	// session.
	Write func(ctx context.Context, d Draft) (Written, error)

	// Put puts streams into the unit at path, absolute, which may not be
	// there: the inverse of Look. [PutFolder] or [PutDatabase], unless the
	// program has rules of its own, such as a backup. nil where there are no
	// units.
	Put func(ctx context.Context, path string, parts []Part) error

	// Side, if not nil, returns where the side file of a file or unit lies
	// (both absolute) that its program must never take for one of its own. nil:
	// .NAME.skein beside it.
	Side func(path, name string) string

	// Lock, if not nil, takes the program's own lock on a session while it is
	// written to. The error wraps [skein.ErrLocked] if the program has it
	// open.
	Lock func(ctx context.Context, path, name string) (unlock func() error, err error)

	// Resume, if not nil, returns the command line with which the program
	// goes on with a session that was written, and the folder to run it in.
	Resume func(w Spot, s skein.Session) (command []string, dir string)

	// Load, if not nil, is used instead of Open, for files that hold events
	// as they are: it takes in a whole file by itself. An error that wraps
	// [skein.ErrInvalid] or [skein.ErrNewer] concerns this file only.
	Load func(context.Context, Whole) (Took, error)
}

// Home is where a format looks for its places.
type Home struct {
	Dir string                   // home folder of the person, absolute
	Cwd string                   // working directory, absolute; "" if not known
	Env func(name string) string // such as os.Getenv
}

// A File is what a reader is told of a file.
type File struct {
	Path string // absolute, with the separators of the system; of a unit, the unit's; of a packed file, as if it were not
	Name string // of the source, in a unit
	Unit bool   // a source of a unit is read, not a file of lines

	// Beside returns the bytes of a small file by its path relative to the
	// folder of Path, or to Path if that is a folder, and false if there is none that can be read, it is no
	// regular file or is longer than 1 MB. Only for what does not change
	// while the session goes on, or the import would depend on the hour.
	Beside func(rel string) ([]byte, bool)
}

// A Reader turns the records of one file into events. It is given each record
// once, in order, from the first.
type Reader interface {
	// Read answers the next record. It may keep no part of l, but what it
	// returns may point into l.Body.
	//
	// An error says that the record is damaged and can give no events, in
	// words for people, such as "invalid character at byte 17": the record
	// is kept, counted and named, and reading goes on with the next.
	Read(l Line) (Made, error)
}

// A Line is one record as a reader sees it: JSON text that is neither blank
// nor cut off.
type Line struct {
	N      int    // record: 0 for the first of its file; blank and damaged ones count too
	Number int    // line in the file, 1 for the first; two records can share one
	Body   []byte // one JSON value: no BOM, no space or NUL around it, valid UTF-8, at most MaxDepth deep; not yet checked otherwise

	// Run says that the record goes on a run of unknown ones, of which one was
	// noted: if the format does not know this one either, it makes no event.
	// See Made.Unknown.
	Run bool
}

// MaxDepth is how deep a record may be nested. A deeper one is damaged: it
// cannot stand inside an event.
const MaxDepth = 4096

// MaxRecords is how many records are read of one file or source: each takes
// room in memory, however short it is.
const MaxRecords = 1_000_000

// MaxRecord is the longest record that is read, in bytes. A longer one is kept
// in pieces of at most 1 MB, as damaged.
const MaxRecord = 20 << 20

// Made is what a reader makes of one record.
type Made struct {
	Key skein.ClientID // see the package comment; "" if it makes no events; at most 100 bytes

	// CopyKey is the key that the record had in the file that this one may
	// be a copy of, if that is another one than Key.
	CopyKey skein.ClientID

	// Floating says that the record is about the file, not a step of the
	// conversation (a title, a mode): it does not by itself begin a session,
	// nor prove that the file is more than a copy.
	Floating bool

	Begin  []Begin // sessions that begin with this record, before the items
	Items  []Item  // its events, in order
	Apart  []Apart // events for sessions of which this record only speaks
	Damage string  // what is wrong with it, though it was read; "" if nothing

	// Unknown says that the format knows nothing of the record but that it is
	// one, so all that can be done is to note it. Of a run of such records one
	// is noted, and another one for each so many bytes: the reader makes no
	// event of one whose Line.Run is set, or junk would cost many times its
	// bytes. A record whose type the format knows as one that is noted is not
	// unknown.
	Unknown bool

	// Instead says that it stands in place of records that its program has
	// removed, such as what a compaction left. What these made stays; a
	// compacted event covers it; a message that the session has already, equal
	// in all, is not said again.
	Instead bool
}

// A Begin starts a session. The file's main session must begin with the first
// record that makes items for it; the engine may create it later (see Copies
// in the package comment), and of several Begins before that the last counts.
type Begin struct {
	Name    string          // "" for the file's main session, else what Item.Session says; unique in the file
	ID      skein.SessionID // wanted; where it is taken, the engine puts ~ and a hash behind it
	Time    skein.Time
	Created skein.Created // without Origin.Path; the engine fills Origin and what the fields below say

	// Of says that it is a child: the name of the session of this file that
	// it hangs on. The engine then fills Created.Parent.Session and, from At
	// (an ordinal as in Item.To), Seq. Why and Call are the reader's.
	Of string
	At int

	// ParentID says the same of a session in another file, by the ID that it
	// has in its own program: the engine fills Created.Parent.Session, and
	// Seq and Call if it finds a tool event there whose Child is this
	// session. Created.Parent must not be nil in both cases.
	ParentID string
}

// An Item is an event and the session that it belongs to.
//
// The items of a session have ordinals: 1 for the first that the reader gave
// for that session, created not counted, and so on. A reader must count them
// to speak of places, for only the store knows the seqs.
type Item struct {
	Session string      // name of a Begin in this file; "" for the main session
	Event   skein.Event // without Seq and ClientID
	Blobs   []skein.Blob

	// To is for rewound, compacted and amended events: the ordinal whose seq
	// goes into the payload, which has none yet. It is of an earlier record.
	// 0 is the beginning.
	To int
}

// An Apart is an event for whatever session has the record Of, in this file or
// another, read before or after this one: a title that one file gives to
// another's session. It has no ordinal and comes besides the record's items. The
// engine appends it at the end of an import that knows that record, once.
type Apart struct {
	Of    skein.ClientID // Key of the record
	Event skein.Event    // titled, changed or noted; without Seq and ClientID
}
