// Package inspect is what a store can say of its own state: an examination of it,
// area by area, copies of it, and how far its search index is behind.
package inspect
