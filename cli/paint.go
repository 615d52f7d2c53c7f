package cli

import "github.com/skein-dev/skein/cli/prose"

// A paint adds colors to text for a terminal, or leaves it plain.
type paint struct{ on bool }

// newPaint decides whether to use colors: when is always, never or auto. With auto,
// colors are used if stdout is a terminal that supports them and NO_COLOR is not
// set.
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

// full returns p in the form that other packages use.
func (p paint) full() prose.Paint { return prose.Paint{On: p.on} }

func (p paint) bold(s string) string   { return p.full().Bold(s) }
func (p paint) dim(s string) string    { return p.full().Dim(s) }
func (p paint) red(s string) string    { return p.full().Red(s) }
func (p paint) green(s string) string  { return p.full().Green(s) }
func (p paint) yellow(s string) string { return p.full().Yellow(s) }
func (p paint) cyan(s string) string   { return p.full().Cyan(s) }
