// Package jsonl cuts a stream of JSON Lines into pieces, whatever state it is
// in, so that no byte is lost: the pieces' Raw, one after the other, are the
// stream.
//
// A piece is usually a line. It is less than a line where two objects stand on
// one, where a whole object follows the beginning of one that was cut off (its
// program was killed and began again), and where a line is longer than the
// limit. Blank lines, NUL runs that a power cut leaves, byte order marks and
// carriage returns belong to the Raw of a piece and not to its Body.
package jsonl
