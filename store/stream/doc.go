// Package stream yields what a store reads page by page, and what is stored meanwhile.
// Between two pages, the caller runs, and the store holds nothing.
package stream
