// Package schema makes skein's tables in a PostgreSQL database and brings them up to
// date, gives the roles of the store their rights, and says what is wrong with these.
package schema
