// Package schema makes and migrates the tables of a store's file, which the .sql files
// describe, and opens the file for the connection that writes, or finds how it can be
// read. It refuses files of later versions and of other programs.
package schema
