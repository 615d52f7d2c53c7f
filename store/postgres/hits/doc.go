// Package hits searches: it finds the rows of the table found that match a query, and
// the events that are not in it yet. A search goes back in time, as far as the query's
// budget allows.
package hits
