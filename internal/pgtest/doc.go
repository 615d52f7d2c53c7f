// Package pgtest gives tests an empty PostgreSQL database, or a cluster of
// their own that they may stop, kill and fill up.
//
// The server is private: it is created in a temporary folder, listens on
// 127.0.0.1 and a port of its own, and has a password that is stored only in its
// folder. All test processes that run at the same time share one. A small shell
// process waits beside each cluster. It reads a named pipe that every user of the
// cluster holds open for writing: when the last of them is gone, killed or not, it
// stops the server and removes the folder. If the shell itself is killed, the next
// test process removes what it left.
//
// If the programs of PostgreSQL are missing, Debian's package is installed, if we
// are root or can become root by sudo without a password. If there is no server,
// tests are skipped with the reason; with CI=true they fail.
//
// SKEIN_TEST_POSTGRES names another server to create the databases on, as
// postgres://…, with a role that may create databases and roles.
package pgtest
