// Package pi reads and writes the sessions of pi, the coding agent of
// https://github.com/badlogic/pi-mono (now earendil-works/pi), and reads those of
// Oh My Pi, which goes on from it.
//
// # Where
//
//	~/.pi/agent/sessions/--<path>--/<time>_<id>.jsonl    pi
//	~/.omp/agent/sessions/<path>/<time>_<id>.jsonl       Oh My Pi
//	~/.omp/agent/sessions/<path>/<time>_<id>/<n>.jsonl   its sub-agents
//	~/.omp/agent/blobs/<SHA-256>                         and its pictures
//
// PI_CODING_AGENT_DIR stands for ~/.pi/agent, PI_CODING_AGENT_SESSION_DIR for the
// folder of the files itself, PI_CONFIG_DIR for .omp, XDG_DATA_HOME/omp for
// ~/.omp/agent; ~/.omp/profiles has others like it. <path> is the working
// directory without its first slash and with - for every slash, backslash and
// colon; <time> that of the session's beginning, 2026-11-21T04-36-00-123Z.
//
// # Lines
//
// JSON Lines, a header first:
//
//	{"type":"session","version":3,"id":…,"timestamp":…,"cwd":…,"parentSession":path}
//
// In version 1 there is no version, and provider, modelId, thinkingLevel and
// branchedFrom stand there too. Oh My Pi has title and titleSource, and before
// the header, at times, a line of 256 bytes {"type":"title","v":1,"title":…,
// "source":…,"updatedAt":…,"pad":…} that it overwrites with each title. Then
// entries {"type","id","parentId","timestamp",…}; those of version 1 have no IDs.
//
//	message        by message.role:
//	                 user           said, with content (text, or blocks text and image)
//	                 assistant      said: blocks text, thinking, toolCall; provider, model, responseModel, usage, stopReason
//	                                (aborted: interrupted; error: with errorMessage)
//	                 toolResult     said, as a tool; details of up to 16 KB are in its meta
//	                 bashExecution, pythonExecution  said, synthetic: !command, then its output; noted if excludeFromContext
//	                 custom, hookMessage  as custom_message
//	                 branchSummary, compactionSummary  as branch_summary
//	                 system, developer    said, as the system
//	                 fileMention    said, synthetic: files and their text
//	custom_message said, synthetic: what an extension told the model as if it were the user
//	branch_summary said, synthetic, a summary: what was left behind on another branch
//	compaction     compacted. It covers what comes before firstKeptEntryId (version 1: the entry with the number
//	               firstKeptEntryIndex, 0 for the header), everything if that is none of the entries before
//	model_change   changed; of Oh My Pi ("model":"provider/id"), if role is none or default
//	session_info, title_change  titled
//	usage, model_usage          a step, with what a request used that is no message
//	label, thinking_level_change, custom, context_edit, anything else  noted, whole, without ID and parent
//
// A context_edit changes what the model sees of an earlier entry; what was said
// stays as it was, and so the context has the original.
//
// # Tree
//
// The last entry is where the session stands; the way from there to the root is
// what the model sees. An entry whose parent is not the one before comes with a
// rewound event to that parent, so other branches stay in the log. A parent that
// is not in the file is taken as the entry before.
//
// # Copies
//
// A fork repeats entries of another file, with their IDs and times, which are the
// records' keys: that is how its parent is found. A parentSession of which
// nothing is repeated makes a continuation. Reading a file of version 1 or 2, pi
// writes it again as version 3 and gives entries IDs, behind their other members:
// the keys of these, and of those without, are made of content.
//
// # Usage
//
// input is without what came from the cache, output with reasoning. cost.total is
// what pi reckoned, in US dollars, and is kept as the reported cost beside the
// one that is worked out. Compactions, summaries and results have a usage of their own in
// newer versions: steps.
//
// # Writing
//
// A file of version 3, where pi looks for it; what was gone back over becomes
// branches. Where nothing follows on going back, a custom entry skein.rewound hangs
// on the entry that the session stands at, for pi goes on from the last one and
// shows the model no custom entry. Calls are turned into pi's tools (bash, read, edit, write, grep,
// find, ls) where one fits, else into words, unless the session came from pi.
// Results stand next to their calls. An answer that broke off, which pi would not
// show the model, is written as cut off by length. System and synthetic messages
// are custom_messages. A session that came from a file is written on at its end,
// in that file's version. pi keeps no lock.
//
// # Evidence
//
// 2026-11-21: a real file of version 1 (1,019 records, November 2025); for the rest,
// and for what is written, the source: coding-agent/src/core/session-manager.ts,
// core/messages.ts, main.ts (--session takes an ID), ai/src/types.ts and
// transform-messages.ts up to about 0.99, and of Oh My Pi
// session/session-entries.ts, session-paths.ts, blob-store.ts (17). Versions 2
// and 3 and Oh My Pi are tested on made-up files. What is written was opened with
// the session manager of pi 0.73.1: sessions of Claude Code and Qwen Code were
// listed, read without being written again, each call with its result, and gone
// on with; that was imported. Oh My Pi has opened none. Where
// PI_CODING_AGENT_SESSION_DIR is set, pi has to be given the path of what was
// written.
package pi
