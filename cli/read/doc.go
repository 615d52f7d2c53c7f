// Package read holds the commands of the group read, from list and show to export
// and convert, and the transcript in which a conversation is shown.
package read
