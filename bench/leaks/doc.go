// Package leaks measures package redact beside gitleaks, whose rules many use:
// how much of what gitleaks finds redact finds too, in a composed set of which
// each of gitleaks' rules gives some; how often each takes what is no secret for
// one, in code and in composed text; and how fast both are.
//
// It is a module of its own, because gitleaks brings many others. To run it:
//
//	go test -v ./...
//	go test -bench . -run none ./...
package leaks
