// Package guidance reads what people wrote down for agents to heed at each
// start: in a project's AGENTS.md, CLAUDE.md and GEMINI.md, from its root down to
// the folder that is worked in, and in the person's own USER.md, MEMORY.md and
// AGENTS.md.
//
// A project's files may come from a stranger. They are read only where they lie
// in the project, also where they are symbolic links or are imported; nothing
// that is no regular file is opened; size, number and depth are bounded. What
// cannot be read is told in a line and left out: no file keeps an agent from
// starting.
package guidance
