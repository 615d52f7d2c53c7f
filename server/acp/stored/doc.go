// Package stored answers what an editor asks, over the Agent Client Protocol, about the
// sessions in a store: it lists them, and shows one from its beginning.
package stored
