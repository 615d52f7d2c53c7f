package share

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/web/transcript"
)

// SharedPart says which part of a session is shown, and what is left out of it. The zero value
// is all of the session up to now, without what [Kinds] are, files, reasoning, and what
// programs put into prompts.
type SharedPart struct {
	From      skein.Seq       `json:"from,omitempty"`      // seq of the first event
	To        skein.Seq       `json:"to"`                  // seq of the last one; 0 for the last that there is
	Mode      transcript.Mode `json:"mode,omitempty"`      // which of its parts
	Without   []skein.Seq     `json:"without,omitempty"`   // messages that are left out
	Kinds     []redact.Kind   `json:"kinds,omitempty"`     // which of [Kinds] are not hidden
	Files     bool            `json:"files,omitempty"`     // files and pictures are shown
	Reasoning bool            `json:"reasoning,omitempty"` // the reasoning of models is shown
	Context   bool            `json:"context,omitempty"`   // what programs put into prompts is shown: instructions, reminders
}

// The names in forms and in paths.
const (
	fromField    = "from"
	toField      = "to"
	modeField    = "mode"
	withoutField = "without"
	showField    = "show"
)

// The values of the field show besides the kinds.
const (
	showFiles     = "files"
	showReasoning = "reasoning"
	showContext   = "context"
)

// Parse reads the fields of a form or path. The error wraps [skein.ErrInvalid].
func Parse(q url.Values) (s SharedPart, err error) {
	for field, to := range map[string]*skein.Seq{fromField: &s.From, toField: &s.To} {
		if *to, err = number(field, q.Get(field)); err != nil {
			return s, err
		}
	}
	for _, list := range q[withoutField] {
		for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			seq, err := number("without", strings.TrimPrefix(word, "#"))
			if err != nil {
				return s, err
			}
			s.Without = append(s.Without, seq)
		}
	}
	s.Mode = transcript.ModeOf(q.Get(modeField))
	for _, word := range q[showField] {
		switch {
		case word == showFiles:
			s.Files = true
		case word == showReasoning:
			s.Reasoning = true
		case word == showContext:
			s.Context = true
		case slices.ContainsFunc(Kinds(), func(k Kind) bool { return string(k.Name) == word }):
			s.Kinds = append(s.Kinds, redact.Kind(word))
		default:
			return s, skein.Invalidf("show %q: want %s", word, strings.Join(Shown(), ", "))
		}
	}
	return s.tidy()
}

// Shown returns the names of what is hidden unless a link shows it.
func Shown() (all []string) {
	for _, k := range Kinds() {
		all = append(all, string(k.Name))
	}
	return append(all, showFiles, showReasoning, showContext)
}

func number(field, text string) (skein.Seq, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, skein.Invalidf("%s %q: want the number of a message", field, text)
	}
	return skein.Seq(n), nil
}

// tidy returns s with its lists in order, so that equal ones look equal.
func (s SharedPart) tidy() (SharedPart, error) {
	slices.Sort(s.Without)
	s.Without = slices.Compact(s.Without)
	slices.Sort(s.Kinds)
	s.Kinds = slices.Compact(s.Kinds)
	if s.To > 0 && s.From > s.To {
		return s, skein.Invalidf("from %d to %d: the part ends before it begins", s.From, s.To)
	}
	return s, nil
}

// Values returns the fields that [Parse] reads.
func (s SharedPart) Values() url.Values {
	q := url.Values{}
	set := func(field string, n skein.Seq) {
		if n > 0 {
			q.Set(field, fmt.Sprint(n))
		}
	}
	set(fromField, s.From)
	set(toField, s.To)
	if s.Mode != transcript.ModeAll {
		q.Set(modeField, string(s.Mode))
	}
	for _, seq := range s.Without {
		q.Add(withoutField, fmt.Sprint(seq))
	}
	for _, word := range Shown() {
		if s.Has(word) {
			q.Add(showField, word)
		}
	}
	return q
}

// Has reports whether s shows what is otherwise hidden, by a name of [Shown].
func (s SharedPart) Has(word string) bool {
	switch word {
	case showFiles:
		return s.Files
	case showReasoning:
		return s.Reasoning
	case showContext:
		return s.Context
	}
	return slices.Contains(s.Kinds, redact.Kind(word))
}

// keptPart is what a store keeps of a link.
type keptPart struct {
	SharedPart
	Seen string `json:"seen"` // [Preview.Seen] when the link was made
}

// read returns what a store keeps of a link.
func read(raw json.RawMessage) (s keptPart, err error) {
	if err = json.Unmarshal(raw, &s); err != nil {
		return s, fmt.Errorf("what the link shows: %w", err)
	}
	return s, nil
}
