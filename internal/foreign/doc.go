// Package foreign reads other programs' SQLite databases safely, as lines of
// JSON that have everything, and builds databases from such lines.
//
// # Reading
//
// A database is never opened in place. [Open] copies the file, then its -wal and its
// -journal, never the -shm; it copies again if the file was written meanwhile, or the
// -wal restarted. It opens the copy, so that what is in the -wal is read and a
// transaction that was not committed is not, with SQLite's defensive flags, with an
// untrusted schema, with limits on the size of values, statements and schemas, and
// with a deadline. It reads only ordinary tables, and of these only the stored
// columns: never a view, a virtual table or the tables behind one. What a damaged page
// hides is reported; what is before and after it is read.
//
// # Lines
//
// [DB.Split] returns the rows of the requested tables, in order, each as one line:
//
//	{"table":"messages","rowid":7,"row":{"id":7,"session_id":"a","content":"hi","cost":0.5,"note":null}}
//
// Columns are in the table's order. An INTEGER is a number without a point and an
// exponent, a REAL a number with one ({"real":"+Inf"} and "-Inf" for what JSON has no
// number for), a TEXT a string ({"text":"base64"} if it is not UTF-8), a
// BLOB {"blob":"base64"}, NULL null. A table WITHOUT ROWID has no "rowid". A
// row that cannot be read has "damage" instead of "row".
//
// [DB.Frame] returns what is not in rows: the settings of the file, and the
// statements that created its tables, indexes and triggers:
//
//	{"database":{"page_size":4096,"encoding":"UTF-8","auto_vacuum":0,"user_version":0,"application_id":0,"journal":"delete"}}
//	{"schema":{"type":"table","name":"sessions","table":"sessions","sql":"CREATE TABLE …"}}
//
// # Building
//
// [Build] builds a database from such lines: rows keep their rowids, and
// sqlite_sequence its content, so the shell's .dump of these tables is the same.
// Full-text tables are rebuilt from the rows and checked.
package foreign
