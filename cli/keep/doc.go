// Package keep holds the commands of the group keep: what removes, hides, copies and
// mends.
package keep
