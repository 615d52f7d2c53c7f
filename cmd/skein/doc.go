// Skein keeps the sessions of AI agents: what was said, which tools ran, what
// it cost. Everything it can do is in package cli.
package main
