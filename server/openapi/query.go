package openapi

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skein-dev/skein"
)

// asked checks that a query has only parameters of op, each at most once: a
// misspelled one would be ignored in silence, and a list be longer than the
// client wanted.
//
// The error wraps [skein.ErrInvalid].
func asked(op *huma.Operation, query string) error {
	if query == "" {
		return nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return fmt.Errorf("query: %w: not a URL query", skein.ErrInvalid)
	}
	known := map[string]*huma.Param{}
	for _, p := range op.Parameters {
		if p.In == "query" {
			known[p.Name] = p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch p := known[name]; {
		case p == nil && len(known) == 0:
			return fmt.Errorf("query: %w: parameter %.100q: this operation has no parameters", skein.ErrInvalid, name)
		case p == nil:
			return fmt.Errorf("query: %w: parameter %.100q: the parameters are %s", skein.ErrInvalid, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case len(values[name]) > 1 && p.Schema.Type != huma.TypeArray:
			return fmt.Errorf("query: %w: the parameter %s is given %d times", skein.ErrInvalid, name, len(values[name]))
		}
	}
	return nil
}
