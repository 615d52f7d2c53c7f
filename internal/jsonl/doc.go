// Package jsonl splits a stream of JSON Lines into pieces, whatever state it is
// in, so that no byte is lost: the pieces' Raw, joined, are the stream.
//
// A piece is usually a line. It is less than a line if two objects are on one line,
// if a whole object follows the beginning of an object that was cut off (its program
// was killed and began again), or if a line is longer than the limit. Blank lines,
// runs of NULs that a power failure leaves, byte order marks and carriage returns
// belong to the Raw of a piece and not to its Body.
package jsonl
