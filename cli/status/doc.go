// Package status says in one line what other programs show of sessions: what one
// costs, what was used today, and how much of the budgets is left.
//
// Such a line is asked for every few seconds, and must come at once. So [Figures] are
// kept in a file, and brought up to date by a process that nobody waits for.
package status
