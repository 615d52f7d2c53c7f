// Package otelgenai reads and writes what programs record of their models by
// OpenTelemetry's semantic conventions for generative AI.
//
// # Where
//
// Nowhere in particular: they are files that a person names. Read are
//
//	lines of OTLP/JSON      {"resourceSpans":[…]} or {"resourceLogs":[…]}, as the collector's file exporter writes them; any name
//	a document of the same  x.json, in one piece or indented, or lines as above
//	a list of messages      x.json: [{"role":…,"parts":[{"type":…},…]},…], as the conventions' JSON schemas have it
//
// and told by what is in them.
//
// # Conversations
//
// A span or log record belongs to the session gen_ai.conversation.id, without
// which session.id or the trace is taken; a file has a session for each. Its
// resource is the session's config, service.name and service.version the program.
//
// A record that has gen_ai.input.messages or gen_ai.output.messages, itself or
// in an event of its span (gen_ai.client.inference.operation.details), is a
// request to a model. They stand as text of JSON or as OTLP's own values. A
// request repeats the conversation up to there: what was said already is not
// said again. One that repeats only the beginning and goes on in another way
// goes back to there; one that repeats what was said last, or nothing, goes on
// from that. A part is known by its role and content, a call and its result by
// the call's ID. A span and a log record of the same span ID are one.
//
//	gen_ai.system_instructions   said by the system, once, until they change
//	parts                        text; reasoning; tool_call {id, name, arguments}: calls; tool_call_response {id, response}: results,
//	                             failed if is_error, which is ours; blob (base64), uri and file: files; any other is kept as it is
//	gen_ai.output.messages       said by gen_ai.response.model; others than the first are choices that were not taken: noted
//	gen_ai.usage.*               usage of the answer, or a step where there is none. input_tokens have cache_read.input_tokens and
//	                             cache_creation.input_tokens in them, output_tokens have reasoning.output_tokens in them. One
//	                             request (gen_ai.response.id, else the span) is counted once
//	execute_tool                 a tool event; gen_ai.tool.call.result is said unless a request has said it
//	invoke_agent and other operations of gen_ai.*   noted; their usage is the sum of others', and not counted
//	status, error.type           the answer's error
//
// Other spans make nothing. As spans are recorded when they end, what started an
// agent comes after what that did: sub-agents are not told apart, but by their
// conversation ID.
//
// # Writing
//
// ID.otlp.json: one document of traces, which collectors and their backends
// take, and not a bare list, which has neither models, times nor usage. It has a
// span "chat MODEL" for each answer, with a resource of its own, so that it can
// be gone on with at its end. Trace and span IDs are made of the session's.
// gen_ai.input.messages has what was said since the answer before, not all of
// the conversation, which would make the file grow with its square; skein.delta,
// an attribute of ours that is true, says so. So are skein.title, skein.cwd and
// skein.cost_usd, and the member skein of a message, which says that it is a
// steer, synthetic or interrupted. What was gone back over is left out.
//
// # Evidence
//
// Checked on 2026-11-21: docs/gen-ai of open-telemetry/semantic-conventions-genai
// (the JSON schemas of input messages, output messages and system instructions,
// spans, events), and OTLP/JSON 1.x. Fixture-tested; no file of a person's was
// at hand. What is written is checked against what the schemas of messages
// require, by a test here. Messages as single log records (gen_ai.user.message
// and others, conventions before 1.37) are noted, not read.
package otelgenai
