// Package reconcile compares what a source says now with what is stored from
// it. It takes values and returns values: it reads no file and asks no store.
//
//	source, read now                    store
//	────────────────                    ─────
//	records ─► [Records] ◄── records    the common prefix, and the keys of the
//	   │           │                    records that were removed or make less
//	   ▼           ▼
//	events ──► [Session] ◄── events     one [Diff] for each event
//	               │
//	               ▼
//	   append · amend · withdraw · same as · fork at
//
// The answers, for each event that a record makes:
//
//   - append: nothing is stored under its client ID;
//   - amend: its record says something else now than it did;
//   - withdraw: its record was removed, or makes another kind of event;
//   - same as: it is stored, in this session or in another one whose records
//     the source repeats ([SameAs]);
//   - fork at: the source and its session both went on with the conversation;
//     what is new goes into a fork at the last event that both have
//     ([Divergence]).
//
// What another hand has amended stays amended as long as the record says what
// it said before.
package reconcile
