package echo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/skein-dev/skein"
)

// An answer is the planned answer to one request.
type answer struct {
	key      string // identifies it among all answers
	said     []string
	thoughts []string
	calls    []skein.Call
	slow     time.Duration
	hang     bool
	context  bool
	system   bool
	status   int // HTTP status, if it fails
	fail     often
	cut      often
}

// often says how many times something happens before it stops.
type often struct{ times int }

// due reports whether it happens once more after so many times.
func (o often) due(before int) bool { return before < o.times }

const marker = "echo:"

// parse parses the directives of a prompt into an answer for each round of
// tools; none if it has no directive.
func parse(prompt string) (script []answer, err error) {
	for line := range strings.Lines(prompt) {
		rest := strings.TrimSpace(line)
		for strings.HasPrefix(rest, marker) {
			if len(script) == 0 {
				script = append(script, answer{})
			}
			name, args, _ := strings.Cut(strings.TrimSpace(rest[len(marker):]), " ")
			args = strings.TrimSpace(args)
			if name == "then" {
				if last := &script[len(script)-1]; len(last.calls) > 0 {
					script = append(script, answer{})
				}
				rest = args
				continue
			}
			if rest, err = script[len(script)-1].directive(name, args); err != nil {
				return nil, err
			}
		}
	}
	return script, nil
}

// directive applies the directive name, whose arguments begin args, and returns
// the rest of the line.
func (a *answer) directive(name, args string) (rest string, err error) {
	first, rest, _ := strings.Cut(args, " ")
	rest = strings.TrimSpace(rest)
	switch name {
	case "say":
		a.said = append(a.said, args)
		return "", nil
	case "think":
		a.thoughts = append(a.thoughts, args)
		return "", nil
	case "words":
		n, err := strconv.Atoi(first)
		if err != nil || n < 1 || n > 1_000_000 {
			return "", fmt.Errorf("echo: words %q: want a number from 1 to 1000000", first)
		}
		a.said = append(a.said, strings.TrimSpace(strings.Repeat("word ", n)))
	case "slow":
		if a.slow, err = time.ParseDuration(first); err != nil || a.slow < 0 {
			return "", fmt.Errorf("echo: slow %q: want a time such as 2s", first)
		}
	case "call":
		return a.call(first, rest)
	case "fail":
		if a.status, err = strconv.Atoi(first); err != nil || a.status < 400 || a.status > 599 {
			return "", fmt.Errorf("echo: fail %q: want an HTTP status from 400 to 599", first)
		}
		a.fail, rest = times(rest)
	case "break":
		a.cut, rest = times(args)
	case "hang":
		a.hang, rest = true, args
	case "context":
		a.context, rest = true, args
	case "system":
		a.system, rest = true, args
	default:
		return "", fmt.Errorf("echo: no directive %q: there are say, words, think, call, then, slow, hang, fail, break, context and system", name)
	}
	return rest, nil
}

// times parses a count, which is 1 if text does not begin with one.
func times(text string) (o often, rest string) {
	first, rest, _ := strings.Cut(text, " ")
	if first == "always" {
		return often{math.MaxInt}, strings.TrimSpace(rest)
	}
	if n, err := strconv.Atoi(first); err == nil && n >= 0 {
		return often{n}, strings.TrimSpace(rest)
	}
	return often{1}, text
}

// call parses the input of a call of the tool name.
func (a *answer) call(name, text string) (rest string, err error) {
	if name == "" || strings.HasPrefix(name, "{") {
		return "", fmt.Errorf("echo: call %q: want the name of a tool before its input", name)
	}
	c := skein.Call{Name: name, Input: json.RawMessage("{}")}
	if strings.HasPrefix(text, "{") {
		d := json.NewDecoder(strings.NewReader(text))
		if err := d.Decode(&c.Input); err != nil {
			return "", fmt.Errorf("echo: call %s: input %q: %w", name, text, err)
		}
		c.Input = bytes.Clone(c.Input)
		text = strings.TrimSpace(text[d.InputOffset():])
	}
	if text != "" && !strings.HasPrefix(text, marker) {
		return "", fmt.Errorf("echo: call %s: %q after it: want a JSON object, or another directive", name, text)
	}
	a.calls = append(a.calls, c)
	return text, nil
}
