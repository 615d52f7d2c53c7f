// Package interop brings the sessions of other programs in from their files.
//
// A [Format] knows one program's files; each has a package of its own under
// this one. [Import] does what all formats share: it walks folders, matches
// files, cuts them into records, hands those to the format's [Reader] and
// appends what comes out, with the records and the place reached in the same
// transaction. [Watch] goes on doing so. [WriteSource] gives a file back, byte
// for byte.
//
// # From a file to the store
//
//	files, folders, databases
//	        │  walk, match: which format, which file first   (walk, gather, guess)
//	        ▼
//	records and what they make: a chunk                      (stream, work)
//	        │                              on one goroutine
//	════════╪══════════════════════════════════════════════════════════════════
//	        ▼                              on another: one target for each file
//	1. a record that skein wrote itself?   its events are there (echo)
//	2. one that came before in this file?  nothing              (key)
//	3. one that another file has too?      same as, fork at     (duplicate, copier)
//	4. else each of its events             ─► reconcile.Session.Diff
//	        │                                append · amend · withdraw · same as
//	        ▼
//	events, records, and how far the file was read: one batch (flush)
//	        ▼
//	Store.Append                             one transaction; where the store
//	                                         refuses it, once more (refused)
//
// Package reconcile decides; this package loads what it compares and appends what
// it answers. These are inputs of that comparison:
//
//   - A file that has grown is read on behind the last stored record, if a sum of
//     what came before is the same. No event of it needs to be compared.
//   - A file that was rewritten is compared record by record (rewritten): the
//     common beginning stays, and each later event is compared. What its removed
//     records made is withdrawn once the file has been read to its end.
//   - A copy of another file begins no session before its first record that is its
//     own; then it is a fork at the last event that both have (copier). A copy
//     that was read before its original is taken out and read again (original).
//   - A duplicate, a file of the same session elsewhere, is compared by its bytes
//     first (duplicate).
//   - A torn end, a last line without a line feed, is read again when it is whole;
//     its record is replaced in place.
//   - A side file brings the session that its source was written from; the records
//     that were written make no events (side, echo).
//   - A sync that was killed leaves an intent, a log of what it was about to write:
//     what of that is found in the file makes no events either (recover).
//   - A file and a session that both went on: what is new in the file goes into a
//     fork at the last event that both have (fork).
//
// # Records, items, keys
//
// A record is a piece of a file that stands for itself: a JSON object in a file
// of JSON Lines. The records of a file, one after the other, are the file:
// blank lines, damage and a torn end are records too, without events. So is a
// short one that equals the one before it, if that was only noted: readers are
// not given it. So are those of a run of records that the format does not know,
// but for one in each so many bytes (see Made.Unknown). A reader
// is given the records in order from the first and answers each with what it
// makes of it: [Made]. That may depend on records before it, never on those
// after it, on the clock, on other files or on the store: so an import in
// pieces equals an import at once, and a reader can be brought back to any
// place by giving it the same records again.
//
// A record's Key says which record it is in the world: the UUID that its
// program gave it, or where there is none its session, a hash of its content
// and its number among equals. The engine makes the client IDs of the events
// out of it: Key if the record has one event, Key/0, Key/1 and so on if it has
// several. The created event of a session has the client ID [CreatedID]. A key
// that comes a second time in a file is told apart by the engine ("#2"), so
// nothing is lost.
//
// # Copies
//
// A file that begins with another's records (a resumed or forked session) is
// found by these keys: where the events of a record stand in another session
// already, equal in kind and payload, the record is a copy and makes no event.
// A session is created with the first record of its own, as a fork at the last
// record that it shares. Floating records (see [Made]) wait until then. For
// this to work a payload must not hold what a copy changes, such as the
// session's ID or a time stamp. Which of two files is the original, the times of
// their records say, and else those of the files: where the copy was read first, it
// is read again when the original comes. A file of the same session that begins with
// another's records byte for byte, such as one that was exported, is its copy
// up to there, whatever has become of the events.
//
// # Packed files
//
// A file that is packed, as its name says by .gz or .zst at its end, is read as
// the file without that ending: Match sees that name and the first unpacked
// bytes, Open that name, and the records are those of the unpacked stream, which
// is also what [WriteSource] and [Export] give back (no two programs pack alike).
// It is read whole when it has changed. Where the unpacked file lies beside it,
// that one is read instead. So are databases and documents that are one file;
// folders in an archive (.tar.gz, .zip) are not. What becomes too long or too
// much when it is unpacked is named as damaged, as what is damaged in its packing
// is, and what can be read before that is taken: see [Unpack].
//
// # Folders and databases
//
// Sessions that lie in folders of files, or in databases, are units. Format.Unit
// says by a file's path alone which unit it belongs to (for a database also the
// path with -wal, -shm, -journal behind it); Format.Look opens the unit as it is
// now, or says [ErrOther] when a look inside shows that it is another
// program's. [OpenFolder] and [OpenDatabase] are all that most formats need:
//
//	Unit: func(path string) string { … },
//	Look: func(ctx context.Context, path string) (interop.Unit, error) {
//		return interop.OpenDatabase(ctx, path, interop.Database{Ours: func(db *foreign.DB) []foreign.Part {
//			if t, ok := db.Table("messages"); !ok || !t.Has("id", "session_id", "content") {
//				return nil
//			}
//			return []foreign.Part{{Table: "sessions", Key: "id"}, {Table: "messages", Key: "session_id"}, {Table: "sqlite_sequence"}}
//		}})
//	},
//	Put: interop.PutDatabase,
//
// A unit gives sources: streams of lines of JSON, each of which is to the engine
// what a file is elsewhere, with a reader of its own (File.Name says which) and
// one main session. The lines of a folder and of a database are those of
// packages folder and foreign; a reader takes them apart with folder.Parse and
// foreign.ParseRow. They hold everything that it takes to make the folder or
// the database again. A folder is one source, "". In a database each session is
// one, its rows in the order of the parts, by their rowids; the source "" has
// the schema and the rows that are nobody's, and makes no session.
//
// A store knows a source by the path of its unit and, unless it is "", a number
// sign and its name, escaped. The unit itself is known with its source "": as
// long as the sizes and times of its files are the same it is not opened. Of
// one that is, a source is read if its Stamp is another one: for a database
// that is the hash of its rows. Then it is compared with what is stored, record
// by record, by key: what changed is amended, what is gone withdrawn. A source
// that the unit has no more is kept as it was, as a file that was removed is.
//
// What it costs: a database is copied and its tables are read once whenever it
// has changed (100 MB: 50 ms and 1 s on one slow core), a folder is listed, and
// of both a source that has changed is read up to three times; stored again are
// the records that differ, so one new row costs one record, but one in the
// middle all that come after it: let what is new come last where the order is
// yours. A unit that is watched rests for twice as long as reading it took.
//
// # Writing
//
// [Export] writes a session. One that came from the same format and has not
// gone on here is written from its records, byte for byte, to the place below
// the home that Format.Below says: no code of the format's is asked. For any
// other, Format.Write turns the events of a [Draft] into lines, as its own
// reader would read them, and says what is lost; the engine puts these into
// files and units (Format.Put), never over what is there, and writes a side
// file. Write does no I/O of its own (Draft.Beside has the program's settings), takes no path from foreign text without
// cleaning it, and gives each line the seq of the last event that it tells of.
//
// The side file, .NAME.skein beside the file or unit unless Format.Side says
// otherwise, keeps the whole session, which records were written, and those that
// the session was read from elsewhere, so it can be written there as it was. An import
// that meets such a source takes the session from there, and of the source only
// the records that its program has added, so the way back is exact and the
// session goes on.
//
// [Sync] writes what is new in a session into the file that it came from, if
// that is as it was when it was read last. Draft.After and Draft.Known then say
// what the source has: Write gives the lines that are new, and again those that
// are to change (a session's row, with its rowid and a later time; in a folder,
// the line of a file with its new bytes). Rows that are new have no rowid, and
// no value for a column that SQLite counts. Format.Lock is taken around it.
//
// When a file and its session have both gone on, an import takes what is new in
// the file into a fork at the last event that both have.
package interop
