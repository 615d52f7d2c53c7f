// Package redact finds secrets in text: private keys, tokens of the usual
// services, JSON Web Tokens, passwords in URLs, what Authorization headers
// carry, and what is assigned to a name such as API_KEY or password. It shows
// text without them.
//
// One walk over the text looks for keywords, of which all rules have some; only
// where one stands is a rule's expression tried, on the next few hundred bytes.
// So text without secrets costs less than reading it as JSON does.
//
// It guesses, both ways: a password that is a plain word in a sentence is not
// found, and a random value that is no secret may be taken for one. It is a
// curtain before a view, not a lock: what must be gone for good is scrubbed
// from the store.
//
// # Marks
//
// In place of a secret stands
//
//	[redacted:KIND]
//
// with its [Kind], and nothing of the secret. A text that has been redacted is
// not changed by being redacted again.
package redact
