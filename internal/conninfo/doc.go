// Package conninfo parses the addresses of databases that libpq calls keyword/value
// connection strings, as far as needed to recognize one and to show it without its
// passwords:
//
//	host=db.example dbname=skein user=ann password='it\'s long'
//	service=team
//
// Pairs are separated by white space and may have some around the equals sign.
// A value ends at white space, unless it is between apostrophes; a backslash
// escapes the next character. See
// https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING
// (read on 2026-11-21).
package conninfo
