package cli

import "fmt"

// A paint puts colours on text for a terminal, or leaves it plain.
type paint struct{ on bool }

// newPaint decides about colours: when is always, never or auto. Auto is only
// where stdout is a terminal that can, and NO_COLOR is not set.
func newPaint(env *Env, when string) (paint, error) {
	switch when {
	case "always":
		return paint{true}, nil
	case "never":
		return paint{}, nil
	case "auto":
		return paint{env.Terminal.Out && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"}, nil
	}
	return paint{}, usagef("color %q: want auto, always or never", when)
}

// sgr returns text between the ANSI attributes code and a reset.
func (p paint) sgr(code int, text string) string {
	if !p.on || text == "" {
		return text
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", code, text)
}

func (p paint) bold(s string) string   { return p.sgr(1, s) }
func (p paint) dim(s string) string    { return p.sgr(2, s) }
func (p paint) red(s string) string    { return p.sgr(31, s) }
func (p paint) green(s string) string  { return p.sgr(32, s) }
func (p paint) yellow(s string) string { return p.sgr(33, s) }
func (p paint) cyan(s string) string   { return p.sgr(36, s) }
