// Package reconcile compares what a source says now with what is stored from
// it. It works on values only: it reads no files and queries no store.
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
// The results, for each event that a record makes:
//
//   - append: nothing is stored under its client ID;
//   - amend: its record has changed;
//   - withdraw: its record was removed, or makes another kind of event;
//   - same as: it is stored already, in this session or in another one whose
//     records the source repeats ([SameAs]);
//   - fork at: the source and its session both went on with the conversation;
//     what is new goes into a fork at the last event that both have
//     ([Divergence]).
//
// An import brings every chunk of a source here in one direction; each part knows only
// those to its right:
//
//	planner ──► producer ──► consumer ──► target ──► outbox ──► Store.Append
//	picks       reads        one source   what each  sessions,
//	files       records,     after the    record     records and
//	            in chunks    other        changes    state wait
//	                                        │
//	                                        ├─ copier: does it only repeat another file?
//	                                        └─ Session.Diff, Records, Diverge: here
//
// What another writer has amended stays amended as long as the record does not
// change.
package reconcile
