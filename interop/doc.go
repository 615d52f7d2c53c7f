// Package interop has what a format of another program's sessions is written with: a
// [Format], the [Reader] that makes events of its records, the [Draft] that it writes, and
// the folders, databases and documents that many formats share. Each format has a package
// of its own under this one.
//
// What all formats share stands in packages above this one, each of which imports only
// those that come before it here:
//
//	disk        the files of this machine: walk, open, unpack, replace
//	interop     the contract: what a format says and is given
//	records     a source as records, and what the store keeps about it
//	discover    which files are to be read, and in which format
//	importer    stores what a source says: Import
//	writeback   writes a session as a program's files: Export, Sync, WriteSource
//	watch       imports as files change: Watch
//
// Import walks folders, matches files, cuts them into records, hands those to the
// format's reader and appends the events, with the records and the read position, in the
// same transaction. WriteSource writes a file back, byte for byte.
//
// # From a file to the store
//
//	files, folders, databases
//	        │  walk, match: which format, which file first   (disk, discover)
//	        ▼
//	records and the events they make: a chunk                (records)
//	        │                              on one goroutine
//	════════╪══════════════════════════════════════════════════════════════════
//	        ▼                              on another: one target for each file (importer)
//	1. a record that skein wrote itself?   its events are there (echo)
//	2. one that came before in this file?  nothing              (key)
//	3. one that another file has too?      same as, fork at     (duplicate, copier)
//	4. otherwise each of its events        ─► reconcile.Session.Diff
//	        │                                append · amend · withdraw · same as
//	        ▼
//	events, records, and how far the file was read: one batch (flush)
//	        ▼
//	Store.Append                             one transaction; if the store
//	                                         refuses it, once more (refused)
//
// Package reconcile decides; package importer loads what it compares and appends
// what it returns. These are the cases it is given:
//
//   - A file that has grown is read on from the last stored record, if the
//     checksum of what came before is the same. None of its events needs comparing.
//   - A file that was rewritten is compared record by record (rewritten): the
//     common beginning stays, and each later event is compared. The events of the
//     removed records are withdrawn once the file has been read to its end.
//   - A copy of another file begins no session before the first record that is its
//     own; it is then a fork at the last event that both have (copier). A copy
//     that was read before its original is taken out and read again (original).
//   - A fork cannot amend what it has from its parent: if its file changes such a
//     message, the fork goes back to before it and says the rest again (sayAgain).
//   - A duplicate, a file of the same session elsewhere, is compared by its bytes
//     first (duplicate).
//   - A torn end, a last line without a line feed, is read again when it is whole;
//     its record is replaced in place.
//   - A side file holds the session that its source was written from; the records
//     that were written make no events (side, echo).
//   - A sync that was killed leaves an intent, a log of what it was about to write:
//     the part of it that is found in the file makes no events either (recover).
//   - If both a file and its session have continued, what is new in the file goes
//     into a fork at the last event that both have (fork).
//
// # Records, items, keys
//
// A record is a self-contained piece of a file: a JSON object in a file of JSON
// Lines. A file is the concatenation of its records: blank lines, damage and a
// torn end are records too, without events. So is a short record that equals the
// one before it, if that was only noted: it is not given to the reader. So are
// those in a run of records that the format does not know, except one in every so
// many bytes (see Made.Unknown). A reader is given the records in order from the
// first and returns what it makes of each: [Made]. That may depend on records
// before it, but not on later ones, the clock, other files or the store. So an
// import in pieces equals an import at once, and a reader can be brought back to any
// place by giving it the same records again.
//
// A record's Key identifies the record globally: the UUID that its program gave
// it or, if it has none, its session, a hash of its content and its number among
// equals. The engine derives the client IDs of the events from it: Key if the
// record has one event, Key/0, Key/1 and so on if it has several. The created
// event of a session has the client ID [CreatedID]. The engine makes a key that
// occurs a second time in a file unique ("#2"), so nothing is lost.
//
// # Copies
//
// A file that begins with another's records (a resumed or forked session) is
// found by these keys: if the events of a record are in another session already,
// equal in kind and payload, the record is a copy and makes no event. A session
// is created with the first record of its own, as a fork at the last record that
// it shares. Floating records (see [Made]) wait until then. For this to work a
// payload must not hold what a copy changes, such as the session's ID or a time
// stamp. Which of two files is the original is decided by the times of their
// records, or else by those of the files; if the copy was read first, it is read
// again when the original comes. A file of the same session that begins with
// another's records byte for byte, such as one that was exported, is a copy up to
// that point, whatever has become of the events.
//
// # Packed files
//
// A file that is packed, as shown by a name ending in .gz or .zst, is read as the
// file without that ending: Match sees that name and the first unpacked bytes,
// Open sees that name, and the records are those of the unpacked stream, which is
// also what WriteSource and Export write (no two programs pack alike). It is
// read whole when it has changed. If the unpacked file is beside it, that one is
// read instead. This also applies to databases and documents that are one file,
// but not to folders in an archive (.tar.gz, .zip). A file that is damaged in its
// packing, or becomes too long or too large when unpacked, is reported as damaged,
// and what can be read before that point is imported: see disk.Unpack.
//
// # Folders and databases
//
// Sessions that are stored in folders of files, or in databases, are units.
// Format.Unit returns, from a file's path alone, which unit it belongs to (for a
// database, also for the path with -wal, -shm, -journal appended); Format.Look
// opens the unit as it is now, or returns [ErrOther] if its content shows that it
// is another program's. [OpenFolder] and [OpenDatabase] are all that most formats need:
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
// A unit has sources: streams of lines of JSON. The engine treats each source like
// a file, with a reader of its own (File.Name says which) and one main session.
// The lines of a folder and of a database are those of packages folder and
// foreign; a reader parses them with folder.Parse and foreign.ParseRow. They hold
// everything needed to make the folder or the database again. A folder is one
// source, "". In a database each session is a source, its rows in the order of the
// parts, by their rowids; the source "" has the schema and the rows that belong to
// no session, and makes no session.
//
// A store knows a source by the path of its unit and, unless it is "", a number
// sign and its name, escaped. The unit itself is known by its source "": as long
// as the sizes and times of its files are the same, it is not opened. In a unit
// that is opened, a source is read if its Stamp has changed: for a database that
// is the hash of its rows. It is then compared with what is stored, record by
// record, by key: what changed is amended, what is gone is withdrawn. A source
// that the unit no longer has is kept unchanged, like a file that was removed.
//
// The cost: a database is copied and its tables are read once whenever it has
// changed (100 MB: 50 ms and 1 s on one slow core), a folder is listed, and in
// both a source that has changed is read up to three times. Only the records that
// differ are stored again, so a new row at the end costs one record, but one in
// the middle costs all records after it: put what is new last if you choose the
// order. A unit that is watched rests for twice as long as reading it took.
//
// # Writing
//
// Export writes a session. One that came from the same format and has not
// continued here is written from its records, byte for byte, to the place below
// the home that Format.Below returns, without calling the format's code. For any
// other, Format.Write turns the events of a [Draft] into lines, as its own
// reader would read them, and reports what is lost; the engine puts these into
// files and units (Format.Put), never over existing ones, and writes a side
// file. Write does no I/O of its own (Draft.Beside has the program's settings),
// takes no path from foreign text without cleaning it, and gives each line the
// seq of the last event that the line covers.
//
// The side file, .NAME.skein beside the file or unit, keeps the whole session, the
// records that were written, and those that the session was read from elsewhere, so
// it can be written there as it was. An import that meets such a source takes the
// session from the side file, and from the source only the records that its program
// has added, so the round trip is exact and the session continues.
//
// Sync writes what is new in a session into the file that it came from, if
// that has not changed since it was last read. Draft.After and Draft.Known then
// say what the source has: Write returns the lines that are new, and again those
// that are to change (a session's row, with its rowid and a later time; in a
// folder, the line of a file with its new bytes). New rows have no rowid, and
// no value for a column that SQLite counts. Format.Lock is held meanwhile.
//
// If both a file and its session have continued, an import puts what is new in
// the file into a fork at the last event that both have.
package interop
