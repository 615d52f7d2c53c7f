package cli

import (
	"errors"
	"regexp"
	"strings"

	"github.com/skein-dev/skein"
)

// sentence returns what err says to a person: the cause, with what it is about,
// but without the path that it took through our packages. That is err.Error(),
// which --verbose and logs show.
func sentence(err error) string {
	if errors.Is(err, skein.ErrFenced) {
		return "another program took this session over, so nothing more was stored here"
	}
	return reason(err)
}

func reason(err error) string {
	switch e := err.(type) { //nolint:errorlint // the tree of errors is walked here, node by node
	case interface {
		Act() string
		Unwrap() error
	}:
		return about(e.Act(), reason(e.Unwrap()))
	case interface{ Unwrap() []error }:
		text := err.Error()
		for _, part := range e.Unwrap() {
			text = strings.Replace(text, part.Error(), reason(part), 1)
		}
		return text
	case interface{ Unwrap() error }:
		if part := e.Unwrap(); part != nil {
			return strings.Replace(err.Error(), part.Error(), reason(part), 1)
		}
	}
	return err.Error()
}

// ours is the name of a package of ours at the head of an act.
var ours = regexp.MustCompile(`^[a-z]+: `)

// about puts an act before why, without its package, unless why names what the
// act was about already, or the act says no more than its package did. What the
// agent was at in its one session the person knows, who asked for it.
func about(act, why string) string {
	if strings.HasPrefix(act, "agent: ") {
		return why
	}
	act = ours.ReplaceAllString(act, "")
	words := strings.Fields(act)
	if len(words) == 0 || strings.Contains(why, strings.Trim(words[len(words)-1], `"`)) {
		return why
	}
	return act + ": " + why
}
