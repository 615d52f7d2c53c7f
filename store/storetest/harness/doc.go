// Package harness runs checks of a store: it changes and asks the store, opens it again,
// and starts other processes on its data.
package harness
