// Package opencode reads and writes the sessions of opencode.
//
// # Where
//
// On every system below $XDG_DATA_HOME/opencode or ~/.local/share/opencode:
//
//	opencode.db                since early 2026: one SQLite file in WAL mode
//	opencode-CHANNEL.db        the same, of a build that is none of latest, beta and prod
//	storage/                   before: a file for each thing. Left where it was when the database was made of it
//	project/NAME/storage/      of the first versions: such a folder for each project
//
// $OPENCODE_DB names another database, absolute or in that folder; one whose
// name does not begin with opencode is not found.
//
// What the database has of a session is not read from the folders too, nor what
// storage/ has from those of projects. A session that was read from a folder
// before there was the database goes on with that.
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
//	migration        what the file has been through; __drizzle_migrations in older ones
//
// Of other tables (event, permission, account, credential, session_share) no
// row is ever read; a database that is written anew has them, empty. Times are
// milliseconds since 1970. Each session is a source: its row; each message, by
// time_created and then ID, as the program sorts them, with its parts by ID
// behind it; session_message; todo.
//
// # The folder
//
//	project/ID.json, session/PROJECT/SES.json, message/SES/MSG.json, part/MSG/PRT.json, todo/SES.json, session_diff/SES.json
//	session/info/SES.json, session/message/SES/MSG.json, session/part/SES/MSG/PRT.json   of one project, of old
//
// An ID is what the path says. The objects are those of the database, with their
// IDs; session_share, which has secrets, is never read.
//
// # Events
//
//	session       created; noted opencode:session; changed, to its agent and model; titled, unless it is the title that all
//	              have at first. parent_id makes it a child; the call is the one of the tool task that names it
//	message       nothing, but for an error: said, without parts; and noted for what parts do not tell (system, tools, diffs)
//	text          said; synthetic and ignored are kept. That of a finished message with summary: compacted, up to where the
//	              person's compaction part stood, or to tail_start_id
//	reasoning, file, agent, subtask   said
//	tool          the call, a tool event with its state, and the result once there is one
//	step-start    step
//	step-finish   step with what was used. Output and reasoning are counted apart there; input has no cached tokens in it.
//	              The counters of messages and of the session say the same again
//	retry         step with its error
//	compaction, snapshot, patch, any other   noted, whole
//	revert        messages and parts from there on are noted opencode:reverted: the program shows them to nobody, and takes
//	              them away once more is said. Taken back, they are said again
//
// A fork is a copy with new IDs that does not say of what. It keeps the times,
// so keys are made of a message's role and time and of its parts' numbers: its
// beginning is found to be shared, and what that cost is counted once.
//
// # Writing
//
// Into the database, for no version reads the folder any more that has one: the
// step that made one of the other is not in 1.18.33 at all. If there is no
// database, one is made as 1.18.33 makes it, with its tables and all that it
// has been through in the table migration. In one that is there the columns are
// used that it has. The project is the one whose worktree the session's folder
// lies in, else global, from which the program moves it when it is in a
// repository. An answer has its model. What a person said has one only if the
// session came from opencode, which goes on with the newest that it finds there,
// else with its own; lastModel in its session/prompt.ts, read 2026-11-22, asks
// whether there is one. IDs are of the time of writing.
//
// Calls become those of opencode's tools (bash, read, edit, write, grep, glob,
// list, webfetch, task, todowrite) where one takes what they took, else words
// that say so; those that came from opencode stay. A compaction is written
// where what it covers ends. Lost are system messages, messages that were gone
// back over, notes, opaque reasoning, and when tools ran.
//
// What was gone back over here is taken out of the database, as the program does
// when somebody goes on behind what was reverted. What a session went back over
// before, and goes on from again, is written again.
//
// A session that was gone back in there is not written back to: the program would
// take away what is new with what was gone back over. Nor is one of a folder.
//
// # Evidence
//
// Checked on 2026-11-21. The database: files that opencode 1.18.33 (npm,
// linux-x64) wrote against a made-up provider, with tools, a sub-agent, a fork,
// a revert and a compaction; what is written here was listed, exported, gone on
// with and compacted by that program. The folders, session_message and all that
// is not in those files: by the source (github.com/anomalyco/opencode:
// storage/storage.ts, storage/json-migration.ts, session/message-v2.ts, and
// core's session/message.ts) and composed files only.
package opencode
