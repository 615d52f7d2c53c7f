// Package pi reads and writes the sessions of pi, the coding agent of
// https://github.com/badlogic/pi-mono (now earendil-works/pi), and reads those of its
// fork Oh My Pi.
//
// # Where
//
//	~/.pi/agent/sessions/--<path>--/<time>_<id>.jsonl    pi
//	~/.omp/agent/sessions/<path>/<time>_<id>.jsonl       Oh My Pi
//	~/.omp/agent/sessions/<path>/<time>_<id>/<n>.jsonl   its sub-agents
//	~/.omp/agent/blobs/<SHA-256>                         and its images
//
// PI_CODING_AGENT_DIR replaces ~/.pi/agent, PI_CODING_AGENT_SESSION_DIR the folder of
// the files itself, PI_CONFIG_DIR .omp, XDG_DATA_HOME/omp ~/.omp/agent;
// ~/.omp/profiles has more folders like it. <path> is the working directory without
// its first slash and with - for every slash, backslash and colon; <time> is that of
// the session's beginning, such as 2026-11-21T04-36-00-123Z.
//
// # Lines
//
// JSON Lines, a header first:
//
//	{"type":"session","version":3,"id":…,"timestamp":…,"cwd":…,"parentSession":path}
//
// In version 1 the header has no version, but has provider, modelId, thinkingLevel
// and branchedFrom. Oh My Pi has title and titleSource and sometimes, before the
// header, a line of 256 bytes {"type":"title","v":1,"title":…,
// "source":…,"updatedAt":…,"pad":…} that it overwrites with each title. Then entries
// {"type","id","parentId","timestamp",…}; those of version 1 have no IDs.
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
//	branch_summary said, synthetic: a summary of an abandoned branch
//	compaction     compacted. It covers what comes before firstKeptEntryId (version 1: the entry with the number
//	               firstKeptEntryIndex, 0 for the header), everything if no earlier entry has that ID
//	model_change   changed; of Oh My Pi ("model":"provider/id"), if role is none or default
//	session_info, title_change  titled
//	usage, model_usage          a step, with what a request used that made no message
//	label, thinking_level_change, custom, context_edit, anything else  noted, whole, without ID and parent
//
// A context_edit changes what the model sees of an earlier entry; the message itself
// does not change, so the context has the original.
//
// # Tree
//
// The last entry is the session's current position; the path from it to the root is
// what the model sees. An entry whose parent is not the entry before comes with a
// rewound event to that parent, so other branches stay in the log. If the parent is
// not in the file, the entry before is taken instead.
//
// # Copies
//
// A fork repeats entries of another file, with their IDs and times, which are the
// records' keys: that is how its parent is found. If nothing of a parentSession is
// repeated, the session is a continuation of it. When pi reads a file of version 1 or
// 2, it rewrites it as version 3 and gives entries IDs, after their other members:
// the keys of these entries, and of those without IDs, are made of their content.
//
// # Usage
//
// input excludes cached tokens, output includes reasoning. cost.total is what pi
// computed, in US dollars, and is kept as the reported cost beside the one computed
// here. In newer versions compactions, summaries and results have their own usage:
// steps.
//
// # Writing
//
// A file of version 3, where pi looks for it; what was rewound becomes branches. If
// nothing follows a rewind, a custom entry skein.rewound is added as a child of the
// session's current entry, because pi continues from the last entry and does not show
// the model custom entries. Calls are turned into pi's tools (bash, read, edit,
// write, grep, find, ls) where one fits, else into text, unless the session came from
// pi. Results come right after their calls. An answer that broke off, which pi would
// not show the model, is written as cut off by length. System and synthetic messages
// are custom_messages. A session that came from a file is appended to it, in that
// file's version. pi keeps no lock.
//
// # Evidence
//
// 2026-11-21: a real file of version 1 (1,019 records, November 2025); for the rest,
// and for what is written, the source: coding-agent/src/core/session-manager.ts,
// core/messages.ts, main.ts (--session takes an ID), ai/src/types.ts and
// transform-messages.ts up to about 0.99, and of Oh My Pi session/session-entries.ts,
// session-paths.ts, blob-store.ts (17). Versions 2 and 3 and Oh My Pi are tested on
// made-up files. What is written was opened with the session manager of pi 0.73.1:
// sessions of Claude Code and Qwen Code were listed, read without being rewritten,
// each call with its result, and continued, and the continuation was imported. Not
// tested with Oh My Pi itself. If PI_CODING_AGENT_SESSION_DIR is set, pi must be
// given the path of what was written.
package pi
