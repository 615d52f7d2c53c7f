// Package redact finds secrets in text: private keys, tokens of common
// services, JSON Web Tokens, passwords in URLs, credentials in Authorization
// headers, and values assigned to a name such as API_KEY or password. It
// returns text with the secrets masked.
//
// One pass over the text looks for keywords, of which every rule has at least
// one; a rule's expression is tried only at its keyword, on the next few
// hundred bytes. Text without secrets therefore costs less than parsing it as
// JSON.
//
// It guesses, both ways: a password that is a plain word in a sentence is not
// found, and a random value that is not a secret may be taken for one. It hides
// secrets from view but does not protect them: to remove one for good, scrub
// the session.
//
// # Marks
//
// A secret is replaced by
//
//	[redacted:KIND]
//
// with its [Kind], and nothing of the secret. Redacting a text again does not
// change it.
package redact
