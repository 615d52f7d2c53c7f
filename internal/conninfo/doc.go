// Package conninfo takes apart the addresses of databases that libpq calls
// connection strings of keywords and values, as far as it takes to know one and
// to show it without its passwords:
//
//	host=db.example dbname=skein user=ann password='it\'s long'
//	service=team
//
// Pairs have white space between them and may have some around the equals sign.
// A value ends at white space, unless it stands between apostrophes; a backslash
// takes the next character as it is. See
// https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING
// (looked at on 2026-11-21).
package conninfo
