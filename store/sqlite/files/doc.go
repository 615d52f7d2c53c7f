// Package files knows where a store's files are, and whether they are still the ones
// that were opened.
package files
