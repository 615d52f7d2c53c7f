// Package opencode reads and writes the sessions of opencode.
//
// # Where
//
// On every system, below $XDG_DATA_HOME/opencode or ~/.local/share/opencode:
//
//	opencode.db                since early 2026: one SQLite file in WAL mode
//	opencode-CHANNEL.db        the same, of a build other than latest, beta and prod
//	storage/                   before that: a file for each object. Left in place when the database was made from it
//	project/NAME/storage/      in the first versions: such a folder for each project
//
// $OPENCODE_DB names another database, absolute or in that folder; a file whose name
// does not begin with opencode is not found.
//
// A session that is in the database is not read from the folders, nor one in storage/
// from those of projects. A session that was read from a folder before the database
// existed continues with the database.
//
// # The database
//
//	session          id, project_id, parent_id, slug, directory, title, version, summary_*, cost, tokens_*, revert (JSON),
//	                 permission, agent, model (JSON), time_created, time_updated, time_archived, …
//	message          id, session_id, time_created, time_updated, data (JSON without its IDs)
//	part             id, message_id, session_id, time_created, time_updated, data (likewise)
//	todo             session_id, content, status, priority, position
//	session_message  id, session_id, type, seq, data: a message with its parts in it, in versions to come
//	project          id, worktree, …
//	migration        migrations that the file has been through; __drizzle_migrations in older ones
//
// Of other tables (event, permission, account, credential, session_share) no row is
// ever read; a database written from scratch has them, empty. Times are milliseconds
// since 1970. Each session is a source: its row; each message, by time_created and
// then ID, as the program sorts them, followed by its parts by ID; session_message;
// todo.
//
// # The folder
//
//	project/ID.json, session/PROJECT/SES.json, message/SES/MSG.json, part/MSG/PRT.json, todo/SES.json, session_diff/SES.json
//	session/info/SES.json, session/message/SES/MSG.json, session/part/SES/MSG/PRT.json   of one project, in early versions
//
// IDs come from the path. The objects are those of the database, with their IDs;
// session_share, which has secrets, is never read.
//
// # Events
//
//	session       created; noted opencode:session; changed, to its agent and model; titled, unless it is the title that all sessions
//	              have at first. parent_id makes it a child; its call is that of the tool task that names it
//	message       nothing, except an error: said, without parts; and noted for what parts lack (system, tools, diffs)
//	text          said; synthetic and ignored are kept. In a finished message with summary: compacted, up to where the
//	              user's compaction part is, or to tail_start_id
//	reasoning, file, agent, subtask   said
//	tool          the call, a tool event with its state, and the result when it comes
//	step-start    step
//	step-finish   step with usage. Output and reasoning are counted separately there; input excludes cached tokens.
//	              The counters of messages and of the session repeat it
//	retry         step with its error
//	compaction, snapshot, patch, any other   noted, whole
//	revert        messages and parts from there on are noted opencode:reverted: the program hides them, and removes
//	              them once more is said. If the revert is undone, they are said again
//
// A fork is a copy with new IDs that does not name its parent. It keeps the times, so
// keys are made of a message's role and time and its parts' numbers: its beginning is
// recognized as shared, and its cost is counted once.
//
// # Writing
//
// Sessions are written into the database, because a version with a database no longer
// reads the folder: 1.18.33 does not even have the step that converted it. If there
// is no database, one is made as 1.18.33 makes it, with its tables and all its
// migrations in the table migration. In an existing database, the columns that it has
// are used. The project is the one whose worktree contains the session's folder, else
// global, from which the program moves it if it is in a repository. An answer has its
// model. A user message has one only if the session came from opencode, which continues
// with the newest model that it finds there, else with its own; lastModel in its
// session/prompt.ts, read 2026-11-22, checks whether there is one. IDs have the time
// of writing.
//
// Calls become those of opencode's tools (bash, read, edit, write, grep, glob, list,
// webfetch, task, todowrite) where one takes the same input, else text that says so;
// those that came from opencode stay. A compaction is written where what it covers
// ends. System messages, rewound messages, notes, opaque reasoning, and the times of
// tool runs are lost.
//
// What was rewound here is removed from the database, as the program does when a user
// continues after a revert. If a session returns to something that it had rewound
// before, that is written again.
//
// A session that was reverted in opencode is not written back to: the program would
// remove what is new together with what was reverted. Neither is a session in a
// folder.
//
// # Evidence
//
// Checked on 2026-11-21. The database: files that opencode 1.18.33 (npm, linux-x64)
// wrote against a made-up provider, with tools, a sub-agent, a fork, a revert and a
// compaction; that program listed, exported, continued and compacted what is written
// here. The folders, session_message and everything that is not in those files: by
// the source (github.com/anomalyco/opencode: storage/storage.ts,
// storage/json-migration.ts, session/message-v2.ts, and core's session/message.ts)
// and made-up files only.
package opencode
