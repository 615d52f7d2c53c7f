// Package terminal lays out what commands print: tables that fit, wrapped text,
// colors, times, sizes and counts as people say them.
package terminal
