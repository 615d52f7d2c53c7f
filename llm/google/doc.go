// Package google reaches Google's Gemini models by the Chat Completions API
// that Google offers beside its own (checked 2026-11 against its documentation
// and error texts).
//
// It does not use Google's own client library because that brings gRPC,
// OpenCensus and the cloud clients, forty modules in all, and makes every start
// of the program 2 ms longer, whether a model is used or not. Little is lost:
// thought signatures are exchanged in extra_content, thoughts come as text that
// is marked there, and the number of thinking tokens is the total minus its
// parts. Lost are the signature of a thought that no call follows, which Google
// does not require, and video and plain text as files.
package google
