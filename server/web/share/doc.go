// Package share makes links by which anybody can read a part of a session, and bundles
// of pages with the same content.
//
// # What a link shows
//
// A link shows the events of a session up to one, as they were then: later messages,
// amendments and rewinds do not change it. Because events never change, nobody can read
// what was not shown before the link was made. [Look] makes what is shown, together with
// what was hidden and what looks suspicious; [Preview.Seen] identifies it, and a link is
// made only for what was seen.
//
// # What it does not show
//
// Secrets are masked ([redact.Redactor]), and so is what tells about people and their
// machines: see [Kinds]. Of the session, only its title, agent and models, and times are
// shown: no ID, key, folder, repository, host or user, nothing of other sessions, no
// cost. Files, pictures and the reasoning of models are left out unless [SharedPart] has them.
//
// # The secret of a link
//
// The path of a link has 26 random letters and digits (130 bits). Stores keep only the
// hash of that, so that neither a copy of a store nor its dashboard gives links away.
// Logs and traces have the pattern of the route instead of the path, and pages of links
// send no referrer. docs/sharing.md has the rest.
package share
