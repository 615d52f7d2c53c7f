// Package pack makes what a store keeps small: payloads of events, source records
// and blobs, packed and unpacked again without a difference.
package pack
