package door

import (
	"strings"
	"unicode"
)

// maxDevice is how much of a program's description of itself is kept, in bytes.
const maxDevice = 60

// device returns what to call a browser with this User-Agent, such as Firefox
// on Linux.
func device(agent string) string {
	browser := firstOf(agent, "Edg/", "Edge", "OPR/", "Opera", "SamsungBrowser/", "Samsung Internet", "Firefox/", "Firefox", "FxiOS/", "Firefox",
		"CriOS/", "Chrome", "Chrome/", "Chrome", "Safari/", "Safari")
	system := firstOf(agent, "Windows", "Windows", "iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "CrOS", "ChromeOS", "Mac OS X", "macOS", "Linux", "Linux")
	switch {
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "":
		return browser
	}
	agent = strings.ToValidUTF8(agent[:min(len(agent), maxDevice)], "")
	agent = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, agent)
	if agent == "" {
		return "unknown"
	}
	return agent
}

// firstOf returns the name after the first word that text contains, of pairs of
// word and name.
func firstOf(text string, pairs ...string) string {
	for i := 0; i+1 < len(pairs); i += 2 {
		if strings.Contains(text, pairs[i]) {
			return pairs[i+1]
		}
	}
	return ""
}
