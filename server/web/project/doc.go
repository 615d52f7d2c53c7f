// Package project prepares the page of a project: what its sessions did by branch and
// folder, what they cost, which files they changed, and which lines of its commits are
// theirs. A project is a repository in all its clones, or a folder without one.
package project
