// Package erase has the rules of erasing: how a secret is masked in text and JSON,
// and the tombstones that keep a deleted session from coming back.
package erase
