// Package gen makes text and transcripts that look like the real ones, from a
// seed: the same seed gives the same bytes on every machine.
//
// Words are drawn from a vocabulary of 20,000 by Zipf's law, so that an index
// over them has very common, middling and rare words, as one over real text
// has. Prose, source code, tool output and other scripts are mixed in the
// proportions that coding sessions show: most bytes are tool output.
package gen
