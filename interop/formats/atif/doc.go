// Package atif reads and writes ATIF, the Agent Trajectory Interchange Format:
// what one run of an agent did, in one JSON document, as the Harbor framework,
// its agents and tools for evaluation and training exchange it.
//
// # Where
//
// Nowhere in particular: they are files that a person names. Of a folder, every
// .json file that names a version of the format ("schema_version":"ATIF-v1.…")
// in its first 64 KB is one. Harbor calls them trajectory.json, and
// trajectory.cont-1.json where one is gone on with.
//
// # Documents
//
//	{"schema_version","session_id","trajectory_id","agent","steps","notes","final_metrics","continued_trajectory_ref","extra","subagent_trajectories"}
//
// Versions 1.0 to 1.7, which only ever added members, are read alike, and so is
// what comes later with the same members. A document is read step by step (see
// [interop.OpenDocument]), so what has changed in one is an amendment of that
// one. Python's NaN and Infinity, which logprobs can have, are taken as text.
//
//	trajectory_id (1.7), else session_id   the session's ID; without both the file's name and a hash
//	agent                                  {name, version, model_name, tool_definitions, extra}: who answers; all of it is the config
//	steps                                  see below
//	final_metrics                          {total_prompt_tokens, total_completion_tokens, total_cached_tokens, total_cost_usd,
//	                                       total_steps, extra}: what the steps do not account for is a step of its own
//	continued_trajectory_ref, notes        noted
//	subagent_trajectories (1.7)            sessions that a step of this one started
//
// # Steps
//
//	{"step_id","timestamp","source","model_name","reasoning_effort","message","reasoning_content","tool_calls","observation","metrics","is_copied_context","llm_call_count","extra"}
//
//	source         user; system; agent: by the assistant. Any other is noted
//	message        a string, or since 1.6 a list of {"type":"text","text"} and {"type":"image","source":{"media_type","path"}}.
//	               A picture is read if it lies below the folder of the document and is one by its name and bytes
//	tool_calls     {tool_call_id, function_name, arguments, extra}: calls
//	observation    {"results":[{source_call_id, content, subagent_trajectory_ref, extra}]}: results. One without a call is of
//	               the only call there is, if there is one. Who refers to another trajectory makes a tool event with that
//	               session; extra.is_error says that the tool failed
//	metrics        {prompt_tokens, completion_tokens, cached_tokens, cost_usd, prompt_token_ids, completion_token_ids, logprobs,
//	               extra}: usage. prompt_tokens has cached_tokens in it, and what extra.cache_creation_input_tokens says;
//	               completion_tokens has extra.reasoning_tokens (or reasoning_output_tokens) in it
//	is_copied_context   it stands in another trajectory, and its metrics count there
//	llm_call_count      0: synthetic, for no model was asked
//	extra.context_management   of a system step with type compaction and boundary replace (1.7): compacted
//
// What is named here and has no place in the session is the message's Meta.
//
// # Writing
//
// ID.trajectory.json, a document of version 1.7; pictures below images. Results
// stand at the step that has their call, as validators want it. What was gone
// back over is left out. What else there is (title, folder, steering, how an
// answer ended) stands in extra.skein and is read from there. Sub-agents are
// documents of their own, to which the call's result refers by name. A document
// is gone on with at the end of its steps, and final_metrics is brought up to
// that; all else in it stays as it is.
//
// # Evidence
//
// The RFC (harbor-framework/harbor, rfcs/0001-trajectory-format.md, version 1.7 of
// April 2026), as its changelog, tables and the models derived from it are
// published, checked on 2026-11-21; fixture-tested. What is written is checked
// against the rules of the reference implementation's validator, as a test
// here has them; the validator itself has not been run.
package atif
