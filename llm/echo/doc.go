// Package echo is a small model that needs no network and no key: it says
// again what the user said. It is for trying things out and for tests, and
// understands nothing.
//
// The prompt can tell it what to do. A directive begins with "echo:" at the
// start of a line and may be followed by others on the same line:
//
//	echo: say TEXT           answer TEXT, up to the end of the line
//	echo: words N            answer N words
//	echo: think TEXT         reason TEXT first, up to the end of the line
//	echo: call NAME {JSON}   call the tool NAME with this input; {} if none is given
//	echo: then               what follows is the next answer, after the tools
//	echo: slow 2s            take that long for each answer, spread over its words
//	echo: hang               say it all, then never come to an end
//	echo: fail 429 2         turn the request down with this HTTP status, twice; once
//	                         if no number is given, "always" for each time
//	echo: break 1            break off in the middle of the answer, once; as for fail
//	echo: context            answer with what it was shown: the system prompt, the
//	                         tools, and a line for each message
//	echo: system             answer with the whole system prompt
//
// So, from a shell:
//
//	skein run --model echo --allow shell 'echo: call shell {"command": "date"} echo: say done'
//
// calls shell and says done in one answer; the answer after it, which no
// directive is left for, is the text of the tools' results. Several calls
// before a "then" are made by one answer; fail, break, slow and hang hold for
// the answer that they stand in. What is no directive is left out if there is
// one. A directive that it does not know, or input that is no JSON object, is
// turned down with what was wrong with it, as a request with HTTP status 400.
//
// Only the newest message that a person typed is obeyed, and which answer is
// due is told by the rounds of tools after it; so what it answers depends on
// the request alone, except that fail and break count, for as long as the
// [Model] lives, how often this answer was asked for.
//
// A request whose last message is a program's (Synthetic) has no directives:
// one that speaks of a title is answered with the first words that a person
// said, one that asks to sum up, or for a summary, with the first words of
// every user message; any other with its own words.
//
// Tokens are words.
package echo
