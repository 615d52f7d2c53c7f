package share

import (
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skein-dev/skein/redact"
)

// A Kind is a kind of text that tells about people and their machines. Links hide it
// unless [SharedPart] says otherwise.
type Kind struct {
	Name  redact.Kind // as in the mark in place of it
	Title string
	find  func(s string, p *people) []redact.Secret
}

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{
		{"email", "E-mail addresses", emails},
		{"user", "Names of users", users},
		{"address", "Network addresses", addresses},
		{"host", "Names of internal hosts", hosts},
		{"random", "Long random text", randoms},
	}
}

// words are those that often stand near what should not be shared.
var words = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:passwords?|passwd|passphrases?|secret keys?|api[ _-]?keys?|credentials?|confidential|private keys?|do not share)\b`)
})

var emailText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`)
})

func emails(s string, _ *people) (all []redact.Secret) {
	if !strings.Contains(s, "@") {
		return nil
	}
	for _, at := range emailText().FindAllStringIndex(s, -1) {
		if !strings.HasPrefix(s[at[0]:], "git@") { // the user of every repository's address
			all = append(all, redact.Secret{Kind: "email", Start: at[0], End: at[1]})
		}
	}
	return all
}

// people are the names of users that a session's paths have.
type people struct {
	names map[string]bool
	match *regexp.Regexp // each as a word; nil if there are none
}

var homeText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:/|%2[Ff])(?:home|Users)(?:/|%2[Ff])([^/\\\s"'<>|:*?%,;()\[\]{}` + "`" + `]+)|(?i:[a-z]:[\\/]+Users[\\/]+)([^/\\"<>|:*?\n\[]+)[\\/]|(?i:[a-z]:[\\/]+Users[\\/]+)([^/\\\s"<>|:*?\[]+)|-(?:home|Users)-([A-Za-z0-9_]+)`)
})

// homes returns where s has the names of users in paths of home folders.
func homes(s string) (all [][2]int) {
	for _, at := range homeText().FindAllStringSubmatchIndex(s, -1) {
		for i := 2; i < len(at); i += 2 {
			if from, to := at[i], at[i+1]; from >= 0 {
				all = append(all, [2]int{from, from + len(strings.TrimRight(s[from:to], ".!"))})
			}
		}
	}
	return all
}

// anybodys are names that many machines have, and words: as a word they are not hidden.
var anybodys = []string{
	"admin", "agent", "app", "build", "ci", "code", "coder", "debian", "default", "dev", "docker", "git", "guest", "home", "local", "me", "node",
	"nobody", "postgres", "public", "root", "runner", "sandbox", "shared", "test", "ubuntu", "user", "users", "vagrant", "vscode", "work", "workspace", "www",
}

// meet adds the names that s has.
func (p *people) meet(s string) {
	for _, at := range homes(s) {
		name := s[at[0]:at[1]]
		if len(name) >= 3 && !slices.Contains(anybodys, strings.ToLower(name)) {
			p.names[name] = true
		}
	}
}

// known compiles the names, once all were met.
func (p *people) known() {
	var all []string
	for name := range p.names {
		all = append(all, regexp.QuoteMeta(name))
	}
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	p.match = regexp.MustCompile(`(?i)(?:` + strings.Join(all, "|") + `)`)
}

func users(s string, p *people) (all []redact.Secret) {
	for _, at := range homes(s) {
		all = append(all, redact.Secret{Kind: "user", Start: at[0], End: at[1]})
	}
	if p.match != nil {
		for _, at := range p.match.FindAllStringIndex(s, -1) {
			if apart(s, at[0], at[1]) {
				all = append(all, redact.Secret{Kind: "user", Start: at[0], End: at[1]})
			}
		}
	}
	return all
}

// apart reports whether s[from:to] is a word of its own.
func apart(s string, from, to int) bool {
	inWord := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }
	begins := from == 0 || !inWord(s[from-1]) || from > 1 && s[from-2] == '\\' && strings.IndexByte("nrt", s[from-1]) >= 0 // as in JSON
	return begins && (to == len(s) || !inWord(s[to]))
}

var addressText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9A-Fa-f:]*::[0-9A-Fa-f:.]*|(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9A-Fa-f]{1,4}:){4,7}[0-9A-Fa-f]{1,4}|(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}`)
})

func addresses(s string, _ *people) (all []redact.Secret) {
	for _, at := range addressText().FindAllStringIndex(s, -1) {
		text := s[at[0]:at[1]]
		ip, err := netip.ParseAddr(strings.TrimRight(text, ".:"))
		short := strings.Contains(text, "::") // an address if it is one, and no name as in C++
		if err == nil && (ip.IsLoopback() || ip.IsUnspecified() || short && !strings.ContainsAny(text, "0123456789")) || err != nil && (short || strings.Contains(text, ".")) {
			continue
		}
		if !apart(s, at[0], at[1]) || at[0] > 0 && s[at[0]-1] == '.' || at[1] < len(s)-1 && s[at[1]] == '.' && s[at[1]+1] >= '0' && s[at[1]+1] <= '9' {
			continue
		}
		all = append(all, redact.Secret{Kind: "address", Start: at[0], End: at[1]})
	}
	return all
}

var hostText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\.(?:internal|local|corp|lan|intranet|localdomain|home\.arpa)\b`)
})

func hosts(s string, _ *people) (all []redact.Secret) {
	for _, at := range hostText().FindAllStringIndex(s, -1) {
		isFile := at[0] > 0 && (s[at[0]-1] == '.' || s[at[0]-1] == '/' && (at[0] < 2 || s[at[0]-2] != '/')) || at[1] < len(s) && (s[at[1]] == '.' && at[1]+1 < len(s) && s[at[1]+1] > ' ' || s[at[1]] == '(' || s[at[1]] == '_')
		if !isFile {
			all = append(all, redact.Secret{Kind: "host", Start: at[0], End: at[1]})
		}
	}
	return all
}

var randomText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_+=-]{24,}`) })

// randoms finds what no word is and may be a key: long, with letters of both cases and
// digits, none of them often.
func randoms(s string, _ *people) (all []redact.Secret) {
	for _, at := range randomText().FindAllStringIndex(s, -1) {
		if random(s[at[0]:at[1]]) {
			all = append(all, redact.Secret{Kind: "random", Start: at[0], End: at[1]})
		}
	}
	return all
}

func random(s string) bool {
	var n [256]int
	lower, upper, digits, turns := 0, 0, 0, 0
	for i := range len(s) {
		c := s[i]
		n[c]++
		switch {
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= '0' && c <= '9':
			digits++
			if i > 0 && (s[i-1] < '0' || s[i-1] > '9') {
				turns++
			}
		}
	}
	bits := 0.0
	for _, k := range n {
		if k > 0 {
			p := float64(k) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return lower > 2 && upper > 2 && digits > 1 && turns > 1 && bits >= 3.9
}
