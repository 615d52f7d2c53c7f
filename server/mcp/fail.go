package mcp

import (
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skein-dev/skein"
)

// failure returns err as an answer. The names of sessions are framed as data
// there, too.
func (s *toolset) failure(err error) *sdk.CallToolResult {
	p := &answerLines{toolset: s}
	p.add(struct {
		Error string `json:"error"`
	}{skein.Reason(err)})
	hint := ""
	var ambiguous *skein.AmbiguousError
	switch {
	case errors.As(err, &ambiguous):
		for _, c := range ambiguous.Candidates {
			p.add(s.line(&c))
		}
		hint = "Several sessions have that name: use an ID."
	case errors.Is(err, skein.ErrNotFound):
		hint = "No such session: find one with session_list or session_search."
	case errors.Is(err, skein.ErrInvalid):
		hint = "An argument was wrong."
	}
	r := p.answer(hint)
	r.IsError = true
	return r
}
