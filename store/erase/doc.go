// Package erase has the rules of destroying: how a secret is blotted out of text
// and JSON, and the tombstones that keep a deleted session from coming back.
package erase
