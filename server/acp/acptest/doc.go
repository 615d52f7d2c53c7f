// Package acptest has an agent and an editor that speak the Agent Client Protocol over
// pipes, for tests: real programs that keep sessions, as strict as the test wants.
package acptest
