package redact

import (
	"fmt"
	"regexp/syntax"

	"github.com/skein-dev/skein"
)

// unanchored returns a regular expression that matches wherever expr does,
// whatever surrounds the match: without ^ and $, \b and the like.
func unanchored(expr string) (string, error) {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", fmt.Errorf("%w: regular expression %q: %w", skein.ErrInvalid, expr, err)
	}
	if !loosen(parsed) {
		return expr, nil
	}
	return parsed.String(), nil
}

// loosen removes from an expression what matches a position instead of text,
// and reports whether there was any.
func loosen(x *syntax.Regexp) (found bool) {
	switch x.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		*x = syntax.Regexp{Op: syntax.OpEmptyMatch}
		return true
	}
	for _, sub := range x.Sub {
		found = loosen(sub) || found
	}
	return found
}
