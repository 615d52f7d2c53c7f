// Package llm defines how to talk to a model. Each provider has a package of
// its own below this one, which passes the tests of package llmtest.
package llm
