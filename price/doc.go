// Package price says what model requests cost, and how much models can read.
//
// # The data
//
// The file prices.jsonl is made by gen/gen.mjs from the npm package
// @pydantic/genai-prices and dated in its first line, which carries the
// package's licence (MIT) too. It is JSON Lines in UTF-8:
//
//   - the first line: source, date (of the source's release, 2026-09-23),
//     sha256 (of the package), license;
//   - a line that begins a provider: provider (its ID), match (which names of
//     providers mean it; besides its ID), models (which names of models are
//     its own where no provider is named), fallback (IDs of providers whose
//     models it sells too);
//   - after it, one line for each of its models: id, match, window (tokens
//     that it can read, if that is known), prices.
//
// A match is an object of one member: equals, starts_with, ends_with, contains
// (all without regard to case), regex (RE2, of the name in lower case), or,
// and (lists of matches), not (a match). The first model that matches is
// meant.
//
// prices are a list of which the last one holds that is in force: one has a
// date from (2026-03-13, from the start of that day in UTC) or hours (two
// times of day in UTC, the second excluded), or neither and is always in
// force. If none is, the first holds. input, output, reasoning, cache_read,
// cache_write and cache_hour (what is put into the cache for an hour) are US
// dollars for a million tokens, requests for a thousand requests. What is not
// named costs as much as what it is a part of: reasoning as output, cache_read
// and cache_write as input, cache_hour as cache_write. A request of more than
// above tokens read, cached ones included, costs what long says instead, all of
// it.
package price
