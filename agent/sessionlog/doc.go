// Package sessionlog keeps a log of each session that skein runs: a text file
// for people, jq and programs that follow a conversation. It is worked out
// from the session's events and from nothing else, so a log that was lost or
// damaged is made again from the store.
//
// # Where
//
//	DIR/USER/SESSION.jsonl
//
// DIR is state/log. USER is the user's name and SESSION the session's ID, both
// made of a-z, A-Z, 0-9, _ and -: every run of other characters becomes one _,
// those at either end go. What another name could have become too gets - and
// the first 8 hexadecimal digits of the SHA-256 of the name: a session's ID
// that has capitals, is longer than 100 bytes or is changed by this rule, a
// name that Windows keeps for itself, and a user whose folder has a file .user
// with another name in it.
// Folders have mode 0700, files 0600.
//
// # Lines
//
// A log is UTF-8 without a byte order mark. Each line is one JSON object
// without a space between its members and ends in a line feed. It begins with
//
//	{"ts":"2026-11-21T04:36:00.123Z","lvl":"INFO","schema":{"name":"skein.log","ver":"1.0.0"},"event":"tool:pre","session_id":"ID","seq":7
//
// ts is the event's time, "" if it is not known; lvl is DEBUG, INFO, WARNING
// or ERROR; seq is the place of the event that the line tells of. An event
// makes no line, one or several. A session that was scrubbed has ,"revision":N
// behind seq in every line. Then come, in this order, the members of one
// of the kinds below, if the line is of a kind, with the time once more:
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
// INPUT is the call's input, a JSON object, as a string. model is left out
// where it is not known. Last is ,"data":{…}, if there is anything in it, and
// then }. A text stands once: data has what the kind's members have not.
//
//	event               kind                   of what                               data
//	session:start                              a session begins                      its created event's payload
//	session:fork                               the same, as a fork or child          the same
//	session:resume                             a program goes on with it             program, version, host
//	session:end                                a program leaves it                   program, version, host, how
//	prompt:submit       user_message           a person says something               agent, files
//	prompt:steer                               the same, in the middle of a turn     text
//	context:include                            a program or the system says it       role, text
//	execution:start     step agent_start       an agent begins to answer
//	llm:request                                a model is asked                      provider, model, mode, attempt
//	llm:response                               it has answered                       provider, model, usage, stop, request_id, attempt
//	provider:error                             it has failed                         the same, error
//	thinking:final                             its reasoning                         text
//	content_block:end   step text              its words
//	tool:pre            step agent_tool_start  a tool starts                         tool_call_id, title
//	task:agent_spawned  step handoff           it works in a session of its own      tool_call_id, child_session
//	tool:post           step agent_tool_end    it answers                            tool_call_id, duration_ms, files
//	tool:error          step agent_tool_end    it says no; or nobody knows           the same, and status: uncertain
//	execution:end       step agent_end         the agent has answered
//	prompt:complete     final_result           the whole answer's last words         status: interrupted or error, if it is
//	session-naming:set                         it gets a title                       the event's payload
//	session:config                             something of it is changed            the event's payload
//	context:compaction                         the older part is summed up           the event's payload
//	context:rewind                             something is taken back               to: the seq
//	NAME                                       a program noted something             what it noted
//	skein:KIND                                 any other kind of event               the event's payload
//
// A turn is a user_message, steps, and a final_result, which is missing where
// the turn broke off. The names of events are those of Amplifier's
// events.jsonl where that has one, the kinds those of the logs of Skillet,
// whose readers understand a log of ours.
//
// A fork's log begins with the fork: what it shows of its parent is in the
// parent's log. After a noted event named [Cleared] the log is empty, and what
// was before does not come back.
//
// # Writing
//
// [Logs] adds lines as events are stored. One process does that for a session,
// the one that holds its lease; the file is never rewritten but to mend it,
// which replaces it as a whole. It is not synced: what a power cut takes is in
// the store.
package sessionlog
