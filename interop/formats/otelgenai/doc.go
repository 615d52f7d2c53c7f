// Package otelgenai reads and writes telemetry of model requests in OpenTelemetry's
// semantic conventions for generative AI.
//
// # Where
//
// There is no usual place: the user names the files. What is read:
//
//	lines of OTLP/JSON      {"resourceSpans":[…]} or {"resourceLogs":[…]}, as the collector's file exporter writes them; any name
//	a document of the same  x.json, in one piece or indented, or lines as above
//	a list of messages      x.json: [{"role":…,"parts":[{"type":…},…]},…], as the conventions' JSON schemas have it
//
// They are recognized by their content.
//
// # Conversations
//
// A span or log record belongs to the session gen_ai.conversation.id or, without it,
// session.id or the trace; a file has a session for each. Its resource is the
// session's config, service.name and service.version the program.
//
// A record that has gen_ai.input.messages or gen_ai.output.messages, itself or in an
// event of its span (gen_ai.client.inference.operation.details), is a request to a
// model. The messages are JSON text or OTLP's own values. A request repeats the
// conversation so far: what was already said is not said again. A request that
// repeats only the beginning and then differs is a rewind to there; one that repeats
// what was said last, or nothing, continues. A part is identified by its role and
// content, a call and its result by the call's ID. A span and a log record of the
// same span ID are one.
//
//	gen_ai.system_instructions   said by the system, once, until they change
//	parts                        text; reasoning; tool_call {id, name, arguments}: calls; tool_call_response {id, response}: results,
//	                             failed if is_error, our own member; blob (base64), uri and file: files; any other is kept unchanged
//	gen_ai.output.messages       said by gen_ai.response.model; those after the first are choices that were not taken: noted
//	gen_ai.usage.*               usage of the answer, or a step if there is no answer. input_tokens includes cache_read.input_tokens and
//	                             cache_creation.input_tokens, output_tokens includes reasoning.output_tokens. One
//	                             request (gen_ai.response.id, else the span) is counted once
//	execute_tool                 a tool event; gen_ai.tool.call.result is said unless a request has said it
//	invoke_agent and other operations of gen_ai.*   noted; their usage is the sum of others', and not counted
//	status, error.type           the answer's error
//
// Other spans make no events. Spans are recorded when they end, so what started an
// agent comes after what the agent did: sub-agents are distinguished only by their
// conversation ID.
//
// # Writing
//
// ID.otlp.json: one document of traces, which collectors and their backends accept,
// and not a bare list, which has neither models, times nor usage. It has a span "chat
// MODEL" for each answer, with a resource of its own, so that it can be appended to.
// Trace and span IDs are derived from the session's. gen_ai.input.messages has what
// was said since the previous answer, not the whole conversation, which would make
// the file grow quadratically; our own attribute skein.delta, set to true, says so.
// What was checked out is in vcs.repository.url.full, vcs.ref.head.name and
// vcs.ref.head.revision, of a span or else its resource. Also our own are skein.title, skein.cwd and skein.cost_usd, and the member skein of
// a message, which says that it is a steer, synthetic or interrupted. What was
// rewound is left out.
//
// # Evidence
//
// Checked on 2026-11-21: docs/gen-ai of open-telemetry/semantic-conventions-genai
// (the JSON schemas of input messages, output messages and system instructions,
// spans, events), and OTLP/JSON 1.x. Fixture-tested; no real file was available. A
// test checks what is written against the requirements of the message schemas.
// Messages as single log records (gen_ai.user.message and others, conventions before
// 1.37) are noted, not read.
package otelgenai
