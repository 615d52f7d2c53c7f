// Package opencode reads the sessions of opencode.
package opencode
