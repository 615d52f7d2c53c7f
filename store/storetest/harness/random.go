package harness

import (
	"flag"

	"pgregory.net/rapid"
)

// Fewer makes rapid run fewer checks than its default, unless a number was
// given, and returns a function that restores the setting.
func Fewer() func() {
	const name = "rapid.checks"
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	f := flag.Lookup(name)
	if set || f == nil {
		return func() {}
	}
	was := f.Value.String()
	_ = f.Value.Set("30") // it is a valid number
	return func() { _ = f.Value.Set(was) }
}

// Pick returns one of these values.
func Pick[T any](rt *rapid.T, what string, of ...T) T { return rapid.SampledFrom(of).Draw(rt, what) }
