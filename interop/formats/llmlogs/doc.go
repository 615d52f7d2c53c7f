// Package llmlogs reads the database in which the command llm
// (https://llm.datasette.io) logs prompts and responses.
//
// # Where
//
// logs.db in $LLM_USER_PATH, else in io.datasette.llm of the system's settings
// folder: $XDG_CONFIG_HOME or ~/.config, ~/Library/Application Support, %APPDATA%. A
// file logs.db or llm….db elsewhere (as made by llm logs backup) is read too.
//
// # Tables
//
//	conversations(id, name, model)
//	responses(id, model, prompt, system, prompt_json, options_json, response, response_json,
//	          conversation_id, duration_ms, datetime_utc)
//
// in 0.5. Other versions are recognized by their tables and columns: input_tokens,
// output_tokens, token_details (0.19), schema_id (0.23), resolved_model, reasoning;
// attachments and prompt_attachments (0.17); schemas; fragments, prompt_fragments,
// system_fragments (0.24); tools, tool_calls, tool_results, tool_responses,
// tool_instances, tool_results_attachments (0.26). Before 0.5 there is one table, log
// or logs, with id, model, prompt, system, response, timestamp or datetime_utc and
// chat_id, the id of a conversation's first row; a database can have both.
//
// Not read: full-text tables, and the tables messages, parts, threads and turns of an
// unreleased version; embeddings are in another file.
//
// # Rows
//
// Each conversation is a source: its row, then for each response, by rowid, what it
// refers to that has not come yet (attachments, fragments, its schema), its links,
// calls and results, then its row. A response without a conversation is a source of
// its own. What no response refers to is in the source "".
//
//	conversations   created and titled; name is the beginning of the first prompt
//	responses       system, if it differs from the one before: said by system. prompt with its fragments (synthetic, with where
//	                they came from) and attachments: said by user. tool_results: said by the tools; a response's tool results are
//	                part of its prompt. response with reasoning and calls: said, with its model, tokens, options and
//	                schema; the time is that of the request, and for the answer duration_ms later
//	log, logs       the same
//
// Tokens: OpenAI's input_tokens include cached tokens
// (prompt_tokens_details.cached_tokens in token_details), Anthropic's do not
// (cache_read_input_tokens, cache_creation_input_tokens).
//
// # Evidence
//
// Checked on 2026-11-21 by the program's source, https://github.com/simonw/llm:
// llm/migrations.py to m022 and what follows it there, and llm/models.py. Tested on
// databases made with the same statements; no real one was available.
package llmlogs
