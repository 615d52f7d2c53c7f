// Package agentuse reads and writes the session folders of AgentUse.
//
// # Where
//
// Below $XDG_DATA_HOME/agentuse or ~/.local/share/agentuse, on every system:
//
//	project/<hash>/session/<ULID>-<agent>/session.json
//	                                      tools.json     since 0.13
//	                                      context.json   since 0.15
//	                                      <ULID>/message.json
//	                                             part/<ULID>.json
//	                                             artifact/tool-output-<tool>-<ULID>.txt or .json
//	                                      subagent/<ULID>-<agent>/…   sessions of their own
//
// hash is the first 16 hexadecimal digits of the SHA-256 of the path of the git root,
// or else of the project; up to 0.11 it is "global" for a project without git. agent
// is the agent's name, or since 0.8 its ID (the path of its file), in lower case,
// with - for each run of characters other than a-z0-9_- and no - at either end;
// "default" if it has no name.
//
// Files are JSON with an indent of two and no line feed at the end, written to
// NAME.json.<pid>.<uuid>.tmp in the same folder and renamed. A folder is one unit
// with one source; each folder in subagent is a unit of its own. Files are read in
// this order: session.json, each message with its artifacts and its parts by name,
// the rest. The program sorts parts by the time in them; both orders are arbitrary
// within a millisecond.
//
// # Files
//
//	session.json   the session, its agent, model (PROVIDER:MODEL), project, parent; status (since 0.8): changed;
//	               error (since 0.7): a step. parentSessionID makes it a child, else the folder that it is in
//	message.json   assistant.system: said by system; user.prompt, task and user: said by user, the task, which is the
//	               agent's own file, as synthetic if there is a user prompt; assistant.tokens: a step, of as many
//	               requests as there were. Their input includes cached tokens. modelID is PROVIDER:MODEL too; cost is
//	               copied, though the program writes 0
//	part, by type
//	  text, reasoning   said; with role user, by the user
//	  tool              the call; a tool event with its state: pending (suspended; why is in resumePayload), running,
//	                    completed, error; the result, once there is one. An output that was put into a file
//	                    ({"kind":"tool-output","path":…}) has that file
//	  file, agent       said
//	  step-finish       a step: what the answer has used so far, until message.json has the sum
//	  error             a step, unless it is session.json's
//	  any with superseded (of an attempt that was rewound), and all others (log, compaction, learning, step-start,
//	                    snapshot, patch, …)   noted, whole
//	tools.json, context.json   kept
//
// A session has one message in practice. What the model says between two runs of
// tools is one message here. Parts change in place while they run: amended. A file
// with something after its JSON (two programs wrote it at once, up to 0.12) is read
// and reported as damaged; one that is cut off is damaged.
//
// A compaction part has sizes but no summary, so it covers nothing.
//
// # Writing
//
// A session is written as one message, because the program resumes only from the
// first one: the first prompt is its task, and everything else is parts, later
// prompts as texts with role user. A session's ID is kept if it is a ULID; otherwise
// one is derived from its time and its ID, so that it is the same each time. Writing
// back adds parts to the newest message and updates the times in session.json and
// message.json, and changes nothing else in them. A result whose call was written
// before goes into the part of that call; parts that were rewound are marked as
// superseded. If the session was suspended and is no longer waiting for a tool, its
// status becomes completed.
//
// # Evidence
//
// Checked on 2026-11-21: folders written by the code of 0.4.0 and 0.15.0 of
// https://github.com/agentuse/agentuse, and src/session/{types,manager,usage,
// rehydrate}.ts and src/storage/{paths,storage}.ts there, to the version of
// October 2026 (superseded, corrections, verify).
package agentuse
