package project

import (
	"strings"

	"github.com/skein-dev/skein/render"
)

// Names returns a short name for each project: the last part of its repository or path,
// and as many parts before it as it takes to tell it from the others.
func Names(all []string) map[string]string {
	names := make(map[string]string, len(all))
	same := map[string][]string{} // projects by name
	for _, one := range all {
		if _, known := names[one]; !known {
			names[one] = last(one, 1)
			same[names[one]] = append(same[names[one]], one)
		}
	}
	for _, group := range same {
		for n := 2; len(group) > 1; n++ {
			group = longer(names, group, n)
		}
	}
	return names
}

// longer gives projects that have a name in common names of n parts, and returns those
// that still have one in common, and more parts.
func longer(names map[string]string, group []string, n int) (rest []string) {
	count := map[string]int{}
	for _, one := range group {
		names[one] = last(one, n)
		count[names[one]]++
	}
	for _, one := range group {
		switch {
		case count[names[one]] == 1:
		case last(one, n+1) == names[one]:
			names[one] = render.Line(one) // they differ in their ends only
		default:
			rest = append(rest, one)
		}
	}
	return rest
}

// last returns the last n parts of a path of any system, or of a repository, on one line.
func last(path string, n int) string {
	trimmed := strings.TrimRight(path, `/\`)
	at := len(trimmed)
	for range n {
		if at = strings.LastIndexAny(trimmed[:at], `/\`); at < 0 {
			return render.Line(trimmed)
		}
	}
	return render.Line(trimmed[at+1:])
}
