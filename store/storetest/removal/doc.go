// Package removal tests the promises of a store about forks, and about what stays of a session that is deleted or scrubbed.
package removal
