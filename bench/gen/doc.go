// Package gen generates realistic text and transcripts from a seed: the same
// seed gives the same bytes on every machine.
//
// Words are drawn from a vocabulary of 20,000 by Zipf's law, so an index over
// them has very common, medium and rare words, like one over real text. Prose,
// source code, tool output and other scripts are mixed in about the proportions
// of real coding sessions: three quarters of the bytes of a transcript are tool
// results, each twice, as the model saw it and as the program stores it; a
// quarter is text that a search should find; there are also pictures, progress
// lines and signatures, which compress badly.
package gen
