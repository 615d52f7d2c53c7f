// Package listing lists and counts the sessions of SQLite, and sums up their usage.
package listing
