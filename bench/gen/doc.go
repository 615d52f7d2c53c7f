// Package gen makes text and transcripts that look like the real ones, from a
// seed: the same seed gives the same bytes on every machine.
//
// Words are drawn from a vocabulary of 20,000 by Zipf's law, so that an index
// over them has very common, middling and rare words, as one over real text
// has. Prose, source code, tool output and other scripts are mixed in about the
// proportions of real coding sessions: of the bytes of a transcript three
// quarters are tools' results, and these twice, as the model saw them and as
// the program keeps them; a quarter is text that a search should find; there
// are pictures, progress lines and signatures, which compress badly.
package gen
