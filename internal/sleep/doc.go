// Package sleep waits for a time to pass, unless the context ends first.
package sleep
