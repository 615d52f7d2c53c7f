package skein

// A SourceFile is what a store knows of a file that sessions were imported
// from: how far it was read, and how to see that it has not changed since.
type SourceFile struct {
	Format  string    // name of the interop format
	Path    string    // absolute; Format and Path name the file
	Session SessionID // the main session in it; "" if it has none of its own
	ID      string    // the session's ID in its own program; "" if not known
	CopyOf  SessionID // where all that was read is a copy: the session that it is in
	Size    int64     // bytes, when it was last read
	Mtime   int64     // nanoseconds since 1970, when it was last read
	Inode   uint64    // 0 where there is none
	Offset  int64     // bytes of it that are stored as records
	Records int       // how many records these are
	Damaged int       // how many of them are damaged
	Head    Hash      // of its first bytes, up to 4096
	State   []byte    // what the format's reader wants to find again; at most 1 MB
}

// A Record is one source record: a line of a file, with its bytes as they are.
// Read in order, the records of a file are the file.
type Record struct {
	N      int      // 0 for the first of its file
	Offset int64    // of its first byte in the file
	Raw    []byte   // all its bytes, with what separates it from the next
	Key    ClientID // its events have the client IDs Key (if there is one) or Key/0, Key/1, …; "" if it has none
	Events int      // how many events it made
	Copy   bool     // these events stand in another session: it repeats another file's record
	Damage string   // what is wrong with it, for people; "" if nothing is
}

// Import is what a batch says of the file that its events come from. It is
// stored in the transaction of the events, so that events, records and how far
// the file was read can never disagree. A file belongs to the user of the batch's
// session; two users may have read the same one.
type Import struct {
	File    SourceFile // as it stands after Records
	Records []Record   // N without gaps, following those stored before; one stored before (the same N) is replaced
	Forget  bool       // the records stored from Records[0].N on (all if there are no Records) are dropped first: the file was rewritten
}

// A Place is where an event stands.
type Place struct {
	Session SessionID
	Seq     Seq
}
