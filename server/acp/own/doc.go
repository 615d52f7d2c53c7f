// Package own lets skein's own agent answer in an editor, over the Agent Client Protocol.
//
// An editor's requests about one session are done one after another, in the order in
// which they came; those about different sessions at the same time. Cancellations, the
// editor's answers and the choice of a mode are taken at once.
package own
