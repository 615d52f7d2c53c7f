// Package textindex feeds and merges the full-text index: which words an event and the
// passages of a long text have in it, and how deleted words leave it.
package textindex
