// Package remember is the tool by which an agent keeps something for later
// sessions: in the person's USER.md, what is true of them, or in MEMORY.md, what
// is worth knowing elsewhere too. Every later session reads both, so each change
// is shown to the person, who has to allow it. Agents that write at once wait for
// each other: .remember.lock beside the files is locked meanwhile.
package remember
