// Package entire reads the sessions that Entire keeps in a Git repository, beside the code:
// its checkpoints, each of which has the transcripts of the agents that worked on a commit.
//
// A checkpoint is a folder of files in a commit of Git. On the branch
// entire/checkpoints/v1, here or of a remote, the checkpoint of ID 1a2b3c4d5e6f is the
// folder 1a/2b3c4d5e6f; under a reference refs/entire/checkpoints/<the last two characters
// of the ID>/<ID> it is the whole commit. It has:
//
//	metadata.json           what all sessions add up to; not read
//	0/metadata.json         of the first session: session_id, agent, branch, created_at,
//	                        files_touched, initial_attribution (the lines of the commit by
//	                        the agent and by people), …
//	0/full.jsonl            the transcript up to then, as the agent writes it, with secrets
//	                        taken out
//	0/full.jsonl.001        what did not fit in 50 MB
//	1/…                     of the second
//
// Checkpoints from before February 2026 have the newest session's files in the folder
// itself. The message of the commit that the sessions worked on names the checkpoint in a
// trailer, Entire-Checkpoint: <ID>.
//
// The folder of Git is a unit, and each session a source. A transcript that another
// checkpoint continues has all of the one before, so a source is the longest one there
// is. Its first line names the format of the agent, whose reader reads what follows; at the
// end is a line for each checkpoint with its metadata:
//
//	{"entire_session":"019dad77-…","format":"codex"}
//	…
//	{"entire_checkpoint":{"checkpoint_id":"1a2b3c4d5e6f","session_id":"019dad77-…",…}}
//
// See https://github.com/entireio/cli: docs/architecture/sessions-and-checkpoints.md and
// ref-checkpoint-backend.md (2026-10), checked against the repositories entireio/skills and
// entireio/external-agents (2026-11).
package entire
