// Package pagefile reads the pages and rows of a database file without SQLite, for
// what SQLite refuses to read because a part of it is damaged.
package pagefile
