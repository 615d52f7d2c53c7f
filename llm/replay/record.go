package replay

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/skein-dev/skein"
)

// An answer is a recorded answer of a model.
type answer struct {
	message skein.Message
	turn    int      // of the session
	prompt  []string // the messages between the previous answer and this one
	program bool     // a program made the request
}

// record gathers the answers of a session.
func record(entries []skein.Entry) (all []answer) {
	var prompt []skein.Message
	row := false // the previous message was an answer too
	for i := range entries {
		e := &entries[i]
		m := e.Message
		switch {
		case e.Rewound, m.Role == skein.RoleSystem, m.Role == skein.RoleAssistant && (m.Interrupted || m.Error != nil || m.Synthetic || len(m.Parts) == 0):
		case m.Role == skein.RoleAssistant && row:
			join(&all[len(all)-1].message, &m)
		case m.Role == skein.RoleAssistant:
			all = append(all, answer{m, e.Turn, said(prompt), byProgram(prompt)})
			row, prompt = true, nil
		default:
			row, prompt = false, append(prompt, m)
		}
	}
	return all
}

// join appends the parts of m, a piece of the same answer, to those of to.
func join(to, m *skein.Message) {
	to.Parts = append(to.Parts[:len(to.Parts):len(to.Parts)], m.Parts...)
	to.Stop = cmp.Or(m.Stop, to.Stop)
	switch {
	case to.Usage == nil:
		to.Usage = m.Usage
	case m.Usage != nil && (m.Request == "" || m.Request != to.Request):
		sum := to.Usage.Plus(*m.Usage)
		to.Usage = &sum
	case m.Usage != nil:
		sum := to.Usage.Merge(*m.Usage)
		to.Usage = &sum
	}
}

// byProgram reports whether the last of messages, to a model, was inserted by a
// program.
func byProgram(messages []skein.Message) bool {
	if len(messages) == 0 {
		return false
	}
	m := &messages[len(messages)-1]
	if m.Role == skein.RoleSteer {
		return true
	}
	for _, p := range m.Parts {
		if p.Kind == skein.PartResult {
			return false
		}
	}
	return m.Role == skein.RoleUser && m.Synthetic
}

// said returns what people and tools said in messages, without what programs
// inserted.
func said(messages []skein.Message) (all []string) {
	for i := range messages {
		m := &messages[i]
		for _, p := range m.Parts {
			switch {
			case p.Kind == skein.PartResult && p.Result != nil && !p.Synthetic:
				all = append(all, "result: "+strings.TrimSpace(p.Result.Text.UTF8()))
			case p.Kind == skein.PartText && !p.Synthetic && !m.Synthetic && m.Role == skein.RoleUser:
				all = append(all, "user: "+strings.TrimSpace(p.Text.UTF8()))
			}
		}
	}
	return all
}

// newest returns the messages after the last answer in all.
func newest(all []skein.Message) []skein.Message {
	for i := len(all); i > 0; i-- {
		if all[i-1].Role == skein.RoleAssistant {
			return all[i:]
		}
	}
	return all
}

// A DifferenceError is a place where a request differs from the one for which
// its answer was recorded.
type DifferenceError struct {
	Answer int    // number of the answer; 1 for the first of the session
	Turn   int    // turn of the session
	Got    string // what the request says now; "" if it says less than then
	Want   string // what the recorded request said; "" for nothing
}

// Error implements error.
func (d *DifferenceError) Error() string {
	return fmt.Sprintf("answer %d (turn %d) was given to %.200q, not to %.200q", d.Answer, d.Turn, d.Want, d.Got)
}

// differ returns the first difference between the request and the recorded one,
// nil if there is none.
func differ(n int, due *answer, got []string) *DifferenceError {
	for i := range max(len(got), len(due.prompt)) {
		d := DifferenceError{Answer: n + 1, Turn: due.turn}
		if i < len(got) {
			d.Got = got[i]
		}
		if i < len(due.prompt) {
			d.Want = due.prompt[i]
		}
		if d.Got != d.Want {
			return &d
		}
	}
	return nil
}
