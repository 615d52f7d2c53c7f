// Skein keeps the sessions of AI agents: what was said, which tools ran, what it
// cost. All of its commands are in package cli.
package main
