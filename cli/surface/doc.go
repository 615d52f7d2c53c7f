// Package surface opens the chat services that the settings name, with their tokens from
// the environment or the key ring.
package surface
