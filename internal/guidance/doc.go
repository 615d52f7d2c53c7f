// Package guidance reads the instructions that people write for agents: a project's
// AGENTS.md, CLAUDE.md and GEMINI.md, from its root down to the working directory, and
// the person's own USER.md, MEMORY.md and AGENTS.md.
//
// A project's files may come from a stranger. They are read only if they are inside
// the project, even if they are symbolic links or imported; only regular files are
// opened; size, number and depth are limited. What cannot be read is left out with a
// note: no file keeps an agent from starting.
package guidance
