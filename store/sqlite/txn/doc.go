// Package txn runs write transactions: the group commit of one process, what a job sees
// of its transaction, and the rows of sessions that were written to last.
package txn
