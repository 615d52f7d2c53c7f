// Package llm says how to talk to a model. Each provider has a folder of its
// own under this one, and passes package llmtest.
package llm
