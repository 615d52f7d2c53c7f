package redact

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

// A specimen is text with a secret in it.
type specimen struct {
	kind         Kind
	text, secret string
	shaped       bool // it is recognized by its form alone, whatever surrounds it
}

// specimens returns one of every kind, and of every service, with letters from
// draw.
func specimens(draw func(n int, of string) string) (all []specimen) {
	const alnums = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	mixed := func(n int) string { return draw(n, alnums) }
	shaped := func(kind Kind, secret string) { all = append(all, specimen{kind, secret, secret, true}) }
	for _, t := range services() {
		re, err := syntax.Parse(t.rest, syntax.Perl)
		if err != nil {
			panic(err)
		}
		shaped(t.kind, t.prefix+written(re.Simplify(), draw))
	}
	shaped("anthropic-key", "sk-ant-"+"api03-"+mixed(93)+"AA")
	shaped("openai-key", "sk-proj-"+mixed(74)+"T3"+"BlbkFJ"+mixed(74))
	shaped("openai-key", "sk-"+mixed(20)+"T3"+"BlbkFJ"+mixed(20))
	shaped("telegram-token", "123456789:"+"AA"+mixed(33))
	shaped("jwt", "eyJ"+"hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0."+mixed(43))
	shaped("azure-secret", mixed(3)+"8"+"Q~"+mixed(34))
	shaped("maxmind-key", mixed(6)+"_"+mixed(29)+"_mmk")
	shaped("mailchimp-key", draw(32, "0123456789abcdef")+"-us"+"12")
	shaped("private-key", "-----BEGIN RSA "+"PRIVATE KEY-----\n"+mixed(64)+"\n"+mixed(64)+"\n-----END RSA PRIVATE KEY-----")
	return all
}

// byName returns specimens recognized by their name, or by standing alone.
func byName() (all []specimen) {
	const random = "q7Rk2ZtW9mXv4LbN8sPfD3hJyC6gAuE1"
	for kind, text := range map[Kind]string{
		"model-key":     "sk-‹" + random + "›",
		"password":      `password: "‹Tr0ub4dor&3›"`,
		"secret":        "CLIENT_SECRET=‹" + random + "›",
		"token":         "access_token=‹" + random + "›",
		"api-key":       `apiKey: "‹` + random + `›"`,
		"authorization": "Authorization: Bearer ‹" + random + "›",
		"cookie":        "Cookie: theme=dark; session=‹" + random + "›",
		"credential":    "credential=‹" + random + "›",
		"service-key":   `datadog = "‹` + random + `›"`,
		"url":           "postgres://app:‹s3cr-et.9›@db.internal/app",
		"curl":          "curl https://x.example -u x:‹hunter2x›",
		"netrc":         "machine api.acme.test login bob password ‹hunter2x›",
	} {
		before, rest, _ := strings.Cut(text, "‹")
		secret, after, _ := strings.Cut(rest, "›")
		all = append(all, specimen{kind, before + secret + after, secret, false})
	}
	return all
}

// written returns a text that re matches, as short as possible.
func written(re *syntax.Regexp, draw func(n int, of string) string) string {
	var b strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		var of strings.Builder
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if alnum(byte(r)) && r < 0x80 {
					of.WriteRune(r)
				}
			}
		}
		if of.Len() == 0 {
			of.WriteRune(re.Rune[0])
		}
		b.WriteString(draw(1, of.String()))
	case syntax.OpConcat, syntax.OpCapture:
		for _, s := range re.Sub {
			b.WriteString(written(s, draw))
		}
	case syntax.OpAlternate, syntax.OpPlus:
		b.WriteString(written(re.Sub[0], draw))
	case syntax.OpStar, syntax.OpQuest, syntax.OpEmptyMatch:
	default:
		panic(re.Op.String())
	}
	return b.String()
}

// lettered returns the ways to draw letters: at random, all the same, and a
// repeated pattern.
func lettered() map[string]func(n int, of string) string {
	rnd, at := rand.New(rand.NewPCG(1, 2)), 0
	return map[string]func(n int, of string) string{
		"random": func(n int, of string) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = of[rnd.IntN(len(of))]
			}
			return string(b)
		},
		"the same":  func(n int, of string) string { return strings.Repeat(of[len(of)/2:len(of)/2+1], n) },
		"the first": func(n int, of string) string { return strings.Repeat(of[:1], n) },
		"repeated": func(n int, of string) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = of[at%4*len(of)/4]
				at++
			}
			return string(b)
		},
	}
}

// shows returns a valuable piece of secret that text has; "" if none.
func shows(text, secret string) string {
	const worth = 8
	for i := 0; i+worth <= len(secret); i++ {
		if strings.Contains(text, secret[i:i+worth]) {
			return secret[i : i+worth]
		}
	}
	return ""
}

// Text in the form of a vendor's secret is hidden whatever its letters are and
// whatever letters and digits surround it.
func TestAShapeIsHiddenWhateverStandsBesideIt(t *testing.T) {
	r := New()
	for way, draw := range lettered() {
		for _, s := range specimens(draw) {
			for _, text := range []string{s.secret, "x" + s.secret, s.secret + "x", "Z" + s.secret + "z", "7" + s.secret + "7", "_" + s.secret + "_", "the end." + s.secret + "...", s.secret + s.secret} {
				if got := r.Text(text); strings.Contains(got, s.secret) || got == text {
					t.Errorf("letters %s: Text(%q) = %q, want no %s", way, text, got, s.kind)
				}
			}
		}
	}
}

// places returns the texts in which two secrets occur next to each other.
func places() map[string]func(a, b string) string {
	quoted := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	return map[string]func(a, b string) string{
		"glued":  func(a, b string) string { return a + b },
		"line":   func(a, b string) string { return a + " " + b },
		"JSON":   func(a, b string) string { return `{"a":` + quoted(a) + `,"b":[` + quoted(b) + `]}` },
		"nested": func(a, b string) string { return `{"in":` + quoted(`{"a":`+quoted(a)+`,"b":`+quoted(b)+`}`) + `}` },
		"log":    func(a, b string) string { return "2026-11-21T04:36:00Z INFO a=" + a + " b=" + b + "\n" },
		"shell": func(a, b string) string {
			return "curl -H 'Authorization: " + a + "' -u x:password -d '" + b + "' https://x.example"
		},
		"flags":  func(a, b string) string { return "run --header='" + a + "' --body \"" + b + "\"" },
		"URL":    func(a, b string) string { return "https://x.example/cb?a=" + a + "&b=" + b + "#top" },
		"user":   func(a, b string) string { return "https://u:" + a + "@x.example/" + b },
		"header": func(a, b string) string { return "X-One: " + a + "\r\nX-Two: " + b + "\r\n" },
		"cookie": func(a, b string) string { return "Cookie: a=" + a + "; b=" + b + "\r\n" },
		"YAML":   func(a, b string) string { return "env:\n  a: " + a + "\n  b: \"" + b + "\"\n" },
		"diff":   func(a, b string) string { return "@@ -1 +1 @@\n-" + a + "\n+" + b + "\n" },
	}
}

// Of two adjacent secrets, each is hidden, in any surrounding text and wherever
// it begins, and functions that list secrets list both.
func TestTwoSecretsBesideEachOtherAreHidden(t *testing.T) {
	r := New()
	kinds := map[Kind]bool{}
	var all []specimen
	for _, s := range append(specimens(lettered()["random"]), byName()...) {
		if !kinds[s.kind] {
			kinds[s.kind] = true
			all = append(all, s)
		}
	}
	if len(kinds) < 24 {
		t.Fatalf("there are %d kinds, want more", len(kinds))
	}
	for place, put := range places() {
		offset := 0
		for _, a := range all {
			for _, b := range all {
				if place == "glued" && !(a.shaped && b.shaped) || (place == "user" || place == "URL") && !a.shaped { // by its name: only where its value ends
					continue
				}
				offset = (offset + 1) % 67
				text := put(strings.Repeat("é ", offset/2)+strings.Repeat(" ", offset%2)+a.text, b.text)
				checkBoth(t, r, fmt.Sprintf("%s and %s in %s", a.kind, b.kind, place), text, a.secret, b.secret)
			}
		}
	}
}

var marks = regexp.MustCompile(`\[redacted:[a-z0-9-]+\]`)

func checkBoth(t *testing.T, r *Redactor, what, text string, secrets ...string) {
	t.Helper()
	got := string(r.JSON([]byte(text)))
	left := marks.ReplaceAllString(got, "\x00")
	var values strings.Builder
	for _, v := range r.Values([]byte(text)) {
		values.WriteString(v.Text + "\x00")
	}
	for _, s := range secrets {
		if piece := shows(left, s); piece != "" {
			t.Errorf("%s: %q becomes %q, which shows %q", what, text, got, piece)
		}
		if !strings.Contains(values.String(), s) && !json.Valid([]byte(text)) {
			t.Errorf("%s: the values of %q are %q, want %q among them", what, text, values.String(), s)
		}
	}
	if again := string(r.JSON([]byte(got))); again != got {
		t.Errorf("%s: %q becomes %q, and that %q", what, text, got, again)
	}
}
