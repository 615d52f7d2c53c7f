// Package columns holds what rows hold: texts as columns can hold them, and events.
package columns
