// Package google reaches Google's Gemini models by the Chat Completions API
// that Google offers beside its own (checked 2026-11 against its documentation
// and error texts).
//
// Why not Google's own client library: it brings gRPC, OpenCensus and the
// cloud clients, forty modules in all, and makes every start of the program
// 2 ms longer, whether a model is asked or not. What is lost is little:
// signatures of thoughts go to and fro in extra_content, thoughts come as text
// marked in the same place, and tokens thought are what the total has more than
// its parts. Lost are the signature of a thought that no call follows, which
// Google does not ask for, and films and plain text as files.
package google
