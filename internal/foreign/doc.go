// Package foreign reads other programs' SQLite databases safely, as lines of
// JSON that hold everything, and builds databases from such lines.
//
// # Reading
//
// A database is never opened where it lies. [Open] copies the file, then its
// -wal and its -journal, never the -shm; once more if the file was written
// meanwhile, or the -wal began anew. The copy is opened, so that what is in the
// -wal is seen and a transaction that was not committed is not, with the
// defensive flags, without trust in its schema, with limits on what a value,
// a statement and a schema may be, and with a deadline. Only ordinary tables
// are read, and of these only the columns that are stored: never a view, a
// virtual table or the tables behind one. What a damaged page hides is said;
// what lies before and behind it is read.
//
// # Lines
//
// [DB.Split] gives the rows of the tables that are asked for, in order, each
// as one line:
//
//	{"table":"messages","rowid":7,"row":{"id":7,"session_id":"a","content":"hi","cost":0.5,"note":null}}
//
// Columns stand in the table's order. An INTEGER is a number without point and
// exponent, a REAL one with ({"real":"+Inf"} and "-Inf" for what JSON has no
// number for), a TEXT a string ({"text":"base64"} where it is not UTF-8), a
// BLOB {"blob":"base64"}, NULL null. A table WITHOUT ROWID has no "rowid". A
// row that cannot be read has "damage" in place of "row".
//
// [DB.Frame] gives what is not in rows: the settings of the file, and the
// statements that made its tables, indexes and triggers:
//
//	{"database":{"page_size":4096,"encoding":"UTF-8","auto_vacuum":0,"user_version":0,"application_id":0,"journal":"delete"}}
//	{"schema":{"type":"table","name":"sessions","table":"sessions","sql":"CREATE TABLE …"}}
//
// # Building
//
// [Build] makes a database of such lines: rows have the rowids that they had,
// sqlite_sequence says what it said, so the shell's .dump of these tables is the
// same. Full-text tables are made anew from the rows and checked.
package foreign
