// Package leaks compares package redact with gitleaks, whose rules are widely
// used: how much of what gitleaks finds redact finds too, in a synthetic set to
// which each of gitleaks' rules contributes; how many false positives each has,
// in code and in synthetic text; and how fast both are.
//
// It is a separate module, because gitleaks has many dependencies. To run it:
//
//	go test -v ./...
//	go test -bench . -run none ./...
package leaks
