// Package echo is a small model that needs no network and no key: it repeats
// what the user said. It is for experiments and tests, and understands nothing.
//
// The prompt can control it. A directive begins with "echo:" at the start of a
// line and may be followed by others on the same line:
//
//	echo: say TEXT           answer TEXT, up to the end of the line
//	echo: words N            answer N words
//	echo: think TEXT         reason TEXT first, up to the end of the line
//	echo: call NAME {JSON}   call the tool NAME with this input; {} if none is given
//	echo: then               what follows is the next answer, after the tools
//	echo: slow 2s            take that long for each answer, spread over its words
//	echo: hang               say everything, then never end
//	echo: fail 429 2         fail the request with this HTTP status, twice; once
//	                         if no number is given, "always" for each time
//	echo: break 1            break off in the middle of the answer, once; as for fail
//	echo: context            answer with what it was shown: the system prompt, the
//	                         tools, and a line for each message
//	echo: system             answer with the whole system prompt
//
// For example, from a shell:
//
//	skein run --model echo --allow shell 'echo: call shell {"command": "date"} echo: say done'
//
// calls shell and says done in one answer; the next answer, which has no
// directive left, is the text of the tools' results. Several calls before a
// "then" are made by one answer; fail, break, slow and hang apply to the answer
// that they belong to. If there is a directive, other text is ignored. An
// unknown directive, or input that is not a JSON object, fails the request with
// HTTP status 400 and a message that says what was wrong.
//
// Only the newest message that a person typed has directives, and the number of
// rounds of tools after it determines which answer is next; so the answer
// depends only on the request, except that fail and break count, for the
// lifetime of the [Model], how often this answer was requested.
//
// A request whose last message is a program's (Synthetic) has no directives:
// one that mentions a title is answered with the first words that a person
// said, one that asks for a summary with the first words of every user message,
// and any other with its own words.
//
// Tokens are words.
package echo
