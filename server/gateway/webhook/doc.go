// Package webhook receives messages from any program that can sign a request,
// such as one that reads e-mail.
//
// A source has a name, a secret, and the keys that it may write under. It sends
//
//	POST /v1/inbox/{key}          {key} escaped as in a path: email:20261121
//	Content-Type: application/json
//	Skein-Source: mail
//	Skein-Timestamp: 1795230386   seconds since 1970, at most 5 minutes off
//	Skein-Signature: v1=HEX       HMAC-SHA256, under the secret, of the
//	                              timestamp, a dot, and the body
//
//	{"id": "<abc@example.org>", "from": "ada@example.org", "text": "Is it done?"}
//
// where id is the message's own ID, so that sending it again does nothing, and
// from is the writer, for the source's allow list; both are optional. The
// answer is 202 at once. What the agent says is sent to the source's URL,
// signed in the same way:
//
//	{"key": "email:20261121", "to": "ada@example.org", "id": "<abc@example.org>", "text": "…"}
//
// With ?wait=1, the agent's answer is the response instead, with 200. An
// unknown source, a wrong signature and a wrong time are all 401, with the same
// text; too many of them are 429.
package webhook
