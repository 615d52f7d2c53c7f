// Package ledger holds the rules of an append: which events of a batch are new,
// whether they may be written, what each of them adds to its session, and what
// the caller is told. Every store follows them and none repeats them.
//
// [Append] is pure: what it has to know it asks a [Book], and what it decides it
// hands to the book to write. A store implements Book on its transaction. One
// that answers without looking, because it believes to know a session's end, must
// check those answers when it writes, in the same transaction.
package ledger
