// Package ledger has the rules of an append: which events of a batch are new,
// whether they may be written, what each of them adds to its session, and what
// the receipt says. Every store uses these rules instead of repeating them.
//
// [Append] does no I/O of its own: it asks a [Book] what it has to know, and passes
// the book what to write. A store implements Book on its transaction. A store that
// answers from a cached session must check those answers when it writes, in the
// same transaction.
package ledger
