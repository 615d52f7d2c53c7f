// Package sessionlog keeps a log of each session that skein runs: a text file
// for people, jq and programs that follow a conversation. It is computed from
// the session's events alone, so a log that was lost or damaged can be written
// again from the store.
//
// # Where
//
//	DIR/USER/SESSION.jsonl
//
// DIR is state/log. USER is the user's name and SESSION the session's ID, both
// made of a-z, A-Z, 0-9, _ and -: every run of other characters becomes one _,
// and those at either end are removed. If another name could give the same
// result, - and the first 8 hexadecimal digits of the SHA-256 of the name are
// added: for a session's ID that has capitals, is longer than 100 bytes or is
// changed by this rule, for a name that Windows reserves, and for a user whose
// folder has a file .user with another name in it. Folders have mode 0700,
// files 0600.
//
// # Lines
//
// A log is UTF-8 without a byte order mark. Each line is one JSON object
// without a space between its members and ends in a line feed. It begins with
//
//	{"ts":"2026-11-21T04:36:00.123Z","lvl":"INFO","schema":{"name":"skein.log","ver":"1.0.0"},"event":"tool:pre","session_id":"ID","seq":7
//
// ts is the event's time, "" if it is not known; lvl is DEBUG, INFO, WARNING or
// ERROR; seq is the seq of the event that the line describes. An event makes no
// line, one or several. If a session was scrubbed, every line has ,"revision":N
// after seq. Then come, in this order, the members of one of the kinds below,
// if the line has a kind, with the time once more:
//
//	,"kind":"user_message","userInput":"TEXT","timestamp":"TIME"
//	,"kind":"step","stepResult":{"type":"agent_start","agentName":"A"},"timestamp":"TIME"
//	,"kind":"step","stepResult":{"type":"agent_tool_start","agentName":"A","toolName":"T","toolArgumentsStr":"INPUT"},"timestamp":"TIME"
//	,"kind":"step","stepResult":{"type":"agent_tool_end","agentName":"A","toolName":"T","result":"TEXT"},"timestamp":"TIME"
//	,"kind":"step","stepResult":{"type":"handoff","agentName":"A","toAgentName":"B"},"timestamp":"TIME"
//	,"kind":"step","stepResult":{"type":"text","text":"TEXT"},"timestamp":"TIME"
//	,"kind":"step","stepResult":{"type":"agent_end","agentName":"A"},"timestamp":"TIME"
//	,"kind":"final_result","finalResult":{"text":"TEXT"},"timestamp":"TIME","model":"PROVIDER/MODEL"
//
// INPUT is the call's input, a JSON object, as a string. model is omitted where
// it is not known. The last member is ,"data":{…}, if there is any data, and
// then }. A text occurs once: data has only what the kind's members do not
// have.
//
//	event               kind                   of what                               data
//	session:start                              a session begins                      its created event's payload
//	session:fork                               the same, as a fork or child          the same
//	session:resume                             a program resumes it                  program, version, host
//	session:end                                a program leaves it                   program, version, host, how
//	prompt:submit       user_message           a person says something               agent, files
//	prompt:steer                               the same, in the middle of a turn     text
//	context:include                            a program or the system says it       role, text
//	execution:start     step agent_start       an agent begins to answer
//	llm:request                                a request to a model starts           provider, model, mode, attempt
//	llm:response                               it has answered                       provider, model, usage, stop, request_id, attempt
//	provider:error                             the request has failed                the same, error
//	thinking:final                             its reasoning                         text
//	content_block:end   step text              its words
//	tool:pre            step agent_tool_start  a tool starts                         tool_call_id, title
//	task:agent_spawned  step handoff           it starts a child session             tool_call_id, child_session
//	tool:post           step agent_tool_end    it answers                            tool_call_id, duration_ms, files
//	tool:error          step agent_tool_end    it fails, or nobody knows             the same, and status: uncertain
//	execution:end       step agent_end         the agent has answered
//	prompt:complete     final_result           the last text of the answer           status: interrupted or error, if it is
//	session-naming:set                         it gets a title                       the event's payload
//	session:config                             a field of it is changed              the event's payload
//	context:compaction                         older messages are summarized         the event's payload
//	context:rewind                             events are rewound                    to: the seq
//	NAME                                       a program noted something             what it noted
//	skein:KIND                                 any other kind of event               the event's payload
//
// A turn is a user_message, steps, and a final_result, which is missing if the
// turn broke off. The names of events are those of Amplifier's events.jsonl if
// it has one for the event; the kinds are those of Skillet's logs, so programs
// that read Skillet's logs can read these.
//
// A fork's log begins with the fork: what it shows of its parent is in the
// parent's log. After a noted event named [Cleared] the log is empty, and its
// earlier lines do not come back.
//
// # Writing
//
// [Logs] adds lines as events are stored. One process does that for a session:
// the one that holds its lease. The file is never rewritten except to repair
// it, which replaces it as a whole. It is not synced: lines lost in a power cut
// can be restored from the store.
package sessionlog
