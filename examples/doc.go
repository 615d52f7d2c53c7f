// Package examples holds sample sessions of coding agents, in the folders where their
// programs would keep them.
package examples
