// Package gitai reads and writes the notes in which Git AI keeps which lines of a commit
// an agent wrote: authorship logs, version 3.0.0, in refs/notes/ai.
//
// A note has two parts, with a line --- between them. The first has the path of each file,
// in double quotes if it contains space, and below it, after two spaces, a key, a space
// and the numbers of lines in the file as the commit has it, such as 1-4,9. The second is
// a JSON object with what the keys mean. A key s_<14 hexadecimal digits>::t_<14> is of the
// session before the colons, in the member sessions; one of 16 digits is in prompts; one
// that begins with h_ is a person's. The digits of a session are the first of the SHA-256
// of TOOL:ID, so that they can be computed from the session of any program.
//
// See https://github.com/git-ai-project/git-ai: specs/git_ai_standard_v3.0.0.md and
// docs/migrations/sessions-v2-note-format.md (2026-05-04).
package gitai
