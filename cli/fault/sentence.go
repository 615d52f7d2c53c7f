package fault

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/skein-dev/skein"
)

// Sentence returns err in words for a person: the cause and what it is about,
// without the call path through our packages. The full text, err.Error(), is shown
// by --verbose and in logs.
func Sentence(err error) string {
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

// ours matches the name of one of our packages at the beginning of an act.
var ours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+: `) })

// about puts an act before why, without its package name. It returns only why if
// why already names what the act was about, or if the act is only a package name.
// It also leaves out what the agent was doing: the person asked for it.
func about(act, why string) string {
	if strings.HasPrefix(act, "agent: ") {
		return why
	}
	act = ours().ReplaceAllString(act, "")
	words := strings.Fields(act)
	if len(words) == 0 || strings.Contains(why, strings.Trim(words[len(words)-1], `"`)) {
		return why
	}
	return act + ": " + why
}
