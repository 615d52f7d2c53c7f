// Package price knows what model requests cost, and how much models can read.
//
// # The data
//
// The file prices.jsonl is made by gen/gen.mjs from the npm package
// @pydantic/genai-prices. Its first line has the date and also the package's
// license (MIT). It is JSON Lines in UTF-8:
//
//   - the first line: source, date (of the source's release, 2026-09-23),
//     sha256 (of the package), license;
//   - a line that begins a provider: provider (its ID), match (names that it
//     also has), models (names of models that are its own if no provider is
//     named), fallback (IDs of providers whose models it also sells);
//   - after it, one line for each of its models: id, match, window (tokens
//     that it can read, if that is known), prices.
//
// A match is an object with one member: equals, starts_with, ends_with,
// contains (all ignoring case), regex (RE2, applied to the name in lower case),
// or, and (lists of matches), not (a match). The first model that matches is
// used.
//
// prices is a list of which the last entry in force applies: an entry has a
// date from (2026-03-13, from the start of that day in UTC) or hours (two times
// of day in UTC, the second excluded), or neither and is always in force. If
// none is in force, the first applies. input, output, reasoning, cache_read,
// cache_write and cache_hour (what is put into the cache for an hour) are US
// dollars per million tokens, requests per thousand requests. A missing price
// is that of what it is a part of: reasoning as output, cache_read and
// cache_write as input, cache_hour as cache_write, of Claude models as twice the
// input (https://platform.claude.com/docs/en/build-with-claude/prompt-caching,
// which Amazon, Google and OpenRouter follow). A request that reads more
// than above tokens, cached ones included, costs the prices in long instead,
// for all its tokens.
package price
