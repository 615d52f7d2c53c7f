// Package talk holds the commands of the group talk: chat, run, continue, resume.
// The commands within a chat, such as /undo, are in the files slash*.go.
package talk
