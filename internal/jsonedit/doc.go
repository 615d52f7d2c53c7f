// Package jsonedit adds values to JSON files that people keep by hand, and takes
// them out again, without a change to any other byte: comments, trailing commas,
// order and indentation stay.
package jsonedit
