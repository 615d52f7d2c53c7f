// Package window computes what a model is shown on its next request from the
// events of a session: the context, which keeps the rules of its provider.
package window
