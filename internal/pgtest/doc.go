// Package pgtest gives tests an empty PostgreSQL database, or a cluster of
// their own that they may stop, kill and fill up.
//
// The server is a private one: it is made in a temporary folder, listens on
// 127.0.0.1 and a port of its own, and has a password that only its folder
// knows. All test processes that run at the same time share one. Beside each
// cluster waits a small shell process, which reads a named pipe that every
// user of the cluster holds open for writing: when the last of them is gone,
// killed or not, it ends the server and removes the folder. What a killed
// shell leaves behind the next test process finds and removes.
//
// Where the programs of PostgreSQL are missing, Debian's package is installed,
// if we are root or may become it by sudo without a password. Where nothing
// can be had, tests are skipped with the reason; with CI=true they fail.
//
// SKEIN_TEST_POSTGRES names another server to make the databases on, as
// postgres://…, of a role that may create databases and roles.
package pgtest
