// Package llmlogs reads the database in which the command llm
// (https://llm.datasette.io) logs what it asked and was answered.
//
// # Where
//
// logs.db in $LLM_USER_PATH, else in io.datasette.llm of the system's folder for
// settings: $XDG_CONFIG_HOME or ~/.config, ~/Library/Application Support,
// %APPDATA%. A file logs.db or llm….db elsewhere (llm logs backup makes such) is
// looked at too.
//
// # Tables
//
//	conversations(id, name, model)
//	responses(id, model, prompt, system, prompt_json, options_json, response, response_json,
//	          conversation_id, duration_ms, datetime_utc)
//
// so 0.5. What other versions have is seen by their tables and columns:
// input_tokens, output_tokens, token_details (0.19), schema_id (0.23),
// resolved_model, reasoning; attachments and prompt_attachments (0.17); schemas;
// fragments, prompt_fragments, system_fragments (0.24); tools, tool_calls,
// tool_results, tool_responses, tool_instances, tool_results_attachments (0.26).
// Before 0.5 there is one table, log or logs, with id, model, prompt, system,
// response, timestamp or datetime_utc and chat_id, the id of the first of a
// conversation; a database can have both.
//
// Not read: full-text tables, and the tables messages, parts, threads and turns
// of a version that is not released; embeddings are another file.
//
// # Rows
//
// Each conversation is a source: its row, then for each response, by rowid, what
// it refers to and has not come yet (attachments, fragments, its schema), its
// links, calls and results, then its row. A response without a conversation is
// one of its own. What no response refers to is in the source "".
//
//	conversations   created and titled; name is the beginning of the first prompt
//	responses       system, if it is another than before: said by system. prompt with its fragments (synthetic, with where
//	                they came from) and attachments: said by user. tool_results: said by the tools; those of a response are
//	                what it was asked with. response with reasoning and calls: said, with its model, tokens, options and
//	                schema; the time is that of the request, and for the answer duration_ms later
//	log, logs       the same
//
// Tokens: OpenAI's input_tokens have the cached ones in them
// (prompt_tokens_details.cached_tokens in token_details), Anthropic's have not
// (cache_read_input_tokens, cache_creation_input_tokens).
//
// # Evidence
//
// Checked on 2026-11-21 by the program's source, https://github.com/simonw/llm:
// llm/migrations.py to m022 and what stands after it there, and llm/models.py.
// Tested on databases that were made with the same statements; none of a
// person's was at hand.
package llmlogs
