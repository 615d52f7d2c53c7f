// Package remember has the tool with which an agent stores something for later
// sessions: facts about the person in USER.md, or what is useful elsewhere too
// in MEMORY.md. Every later session reads both, so the person is shown each
// change and must approve it. Concurrent changes wait for each other:
// .remember.lock beside the files is locked meanwhile.
package remember
