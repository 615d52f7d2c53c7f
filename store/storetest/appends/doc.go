// Package appends tests the promises of a store about what an append stores and what it refuses.
package appends
