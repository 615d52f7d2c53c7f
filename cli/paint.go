package cli

import "github.com/skein-dev/skein/cli/prose"

// newPaint decides whether to use colors: when is always, never or auto. With auto,
// colors are used if stdout is a terminal that supports them and NO_COLOR is not
// set.
func newPaint(env *Env, when string) (prose.Paint, error) {
	switch when {
	case "always":
		return prose.Paint{On: true}, nil
	case "never":
		return prose.Paint{}, nil
	case "auto":
		return prose.Paint{On: env.Terminal.Out && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"}, nil
	}
	return prose.Paint{}, usagef("color %q: want auto, always or never", when)
}
