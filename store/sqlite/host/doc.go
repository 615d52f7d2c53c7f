// Package host asks the operating system about a store's files and the processes that
// use them: disk space, rights, locks, and who waits for whom.
package host
