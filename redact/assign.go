package redact

import "strings"

// assignRules returns the rules for values of telling names: in code, JSON,
// YAML, .env files, command lines, URLs and XML.
func assignRules() (rules []secretRule) {
	add := func(kind Kind, word string, judge func(string) bool) {
		a := assignment{kind, word, judge}
		rules = append(rules, secretRule{word: word, find: a.find, vague: true, given: a.given})
	}
	for _, w := range strings.Fields(`password passwd passphrase pwd _pass pass=`) {
		add("password", w, password)
	}
	for _, w := range strings.Fields(`secret token apikey credential _auth= signature=`) {
		add(kindOf(w), w, random)
	}
	add("api-key", "key", random)
	for _, w := range serviceNames() {
		add(service, w, digest)
	}
	return rules
}

func kindOf(word string) Kind {
	if word = strings.Trim(word, "_="); word == "apikey" {
		return "api-key"
	}
	return Kind(word)
}

// service is the kind of a value assigned to a service's name.
const service Kind = "service-key"

// serviceNames returns names of services whose keys have no recognizable form:
// random letters and digits, assigned to a name that contains the service's.
func serviceNames() []string {
	return strings.Fields(`adafruit adobe algolia asana beamer bitbucket bittrex codecov coinbase confluent
		datadog dd_ discord droneci dropbox etsy facebook fastly finicity finnhub flickr freshbooks gitter
		heroku hubspot intercom jfrog artifactory jira confluence atlassian kraken kucoin launchdarkly linear linkedin
		looker mailchimp mailgun mapbox mattermost messagebird meraki netlify new-relic newrelic new_relic nytimes new-york-times
		newyorktimes okta openai plaid privateai privatai rapidapi sendbird sentry sidekiq snyk square squarespace
		sumo telegram travis trello twilio twitch twitter yandex zendesk cloudflare cohere co_api airtable contentful lob mpesa
		harness fly.io nuget typeform infracost facebook duffel clojars freemius hashicorp gcp heroku kubernetes polymarket`)
}

// keyed reports whether name, which precedes "key", ends in a word of secret
// keys.
func keyed(name string) bool {
	name = strings.TrimRight(name, "_-. ")
	for _, w := range []string{
		"api", "access", "secret", "private", "priv", "signing", "sign", "encryption", "encrypt", "master", "auth", "account", "client",
		"service", "license", "storage", "shared", "deploy", "jwt", "hmac", "app", "admin", "root", "webhook", "consumer", "subscription", "aes",
	} {
		if len(name) >= len(w) && strings.EqualFold(name[len(name)-len(w):], w) {
			return true
		}
	}
	return false
}

// Bounds of an assignment, in bytes.
const (
	maxName  = 40 // of the rest of the name after the word
	maxValue = 1024
)

// An assignment assigns a value to a name that contains a word. The value is a
// secret if judge accepts it.
type assignment struct {
	kind  Kind
	word  string
	judge func(string) bool
}

// secret reports whether the word at s[at:] makes its name one of a secret,
// given the text before it.
func (a *assignment) secret(s string, at int) bool {
	if a.word == "key" {
		return keyed(s[max(0, at-16):at])
	}
	return !strings.HasSuffix(a.word, "=") && a.kind != service || at == 0 || !alnum(s[at-1])
}

// find is a [findFunc] for values of names in text.
func (a *assignment) find(s string, at, end int) []Secret {
	if !a.secret(s, at) {
		return nil
	}
	v, ok := valueOf(s, at, end)
	if !ok {
		return nil
	}
	text := s[v.from:v.to]
	if !a.judge(text) || placeholder(text) || !v.quoted && code(s, v) {
		return nil
	}
	return []Secret{{a.kind, v.from, v.to}}
}

// given is a [givenFunc] for the name of a member.
func (a *assignment) given(name string, at, end int, value string) (Kind, bool) {
	return a.kind, value != "" && a.secret(name, at) && nameEnd(name, end) == len(name) && a.judge(value) && !placeholder(value)
}

// An assigned is the value of a name.
type assigned struct {
	from, to int
	quoted   bool
}

// valueOf returns the value of the name in which a word ends at end.
func valueOf(s string, at, end int) (v assigned, ok bool) {
	i := end
	if s[end-1] != '=' {
		i = nameEnd(s, end)
		if i < 0 {
			return v, false
		}
		after, operated := operator(s, i)
		if !operated && !flag(s, at, i) {
			return v, false
		}
		i = after
	}
	i = spaces(s, i)
	quote := byte(0)
	if i+1 < len(s) && strings.IndexByte(`\bfr`, s[i]) >= 0 && quotes(s[i+1]) { // \" in a quoted text; b"…" in code
		i++
	}
	if i < len(s) && (quotes(s[i]) || s[i] == '`') {
		quote = s[i]
		i++
	}
	v = assigned{from: i, to: valueEnd(s, i, quote), quoted: quote != 0}
	return v, v.to > v.from
}

func quotes(b byte) bool { return b == '"' || b == '\'' }

// nameEnd returns the end of the name that continues at i, or -1 if the name is
// not one of a secret.
func nameEnd(s string, i int) int {
	from := i
	for i < len(s) && i-from < maxName && (alnum(s[i]) || s[i] == '_' || s[i] == '-' || s[i] == '.') {
		i++
	}
	if i == from || i == from+1 && s[from]|0x20 == 's' {
		return i
	}
	rest := strings.ToLower(s[from:i])
	for _, w := range []string{"name", "count", "type", "url", "uri", "path", "file", "limit", "length", "size", "expir", "ttl", "hash", "policy", "usage", "version", "field", "label", "_id", "-id", "style", "pattern", "regex", "ref", "arn", "word"} {
		if strings.Contains(rest, w) {
			return -1
		}
	}
	if rest[0] != '_' && rest[0] != '-' && rest[0] != '.' && !isUpper(s[from]) && !isUpper(s[from-1]) && rest[0] > '9' {
		if !strings.HasPrefix(rest, "s_") && !strings.HasPrefix(rest, "s-") {
			return -1 // another word: tokenizer, secretary
		}
	}
	return i
}

func isUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

// operator returns the end of the assignment operator at i, and whether there
// is one.
func operator(s string, i int) (int, bool) {
	for i < len(s) && strings.IndexByte("\"'`\\])", s[i]) >= 0 {
		i++
	}
	i = spaces(s, i)
	switch {
	case i >= len(s):
		return i, false
	case s[i] == '=' || s[i] == ':' || s[i] == '>':
	case s[i] == '|' && strings.HasPrefix(s[i:], "||"), s[i] == '?' && strings.HasPrefix(s[i:], "?="), s[i] == '!' && strings.HasPrefix(s[i:], "!="):
	case s[i] == ',':
		j := spaces(s, i+1) // setenv("TOKEN", "…")
		return i + 1, j < len(s) && (s[j] == '"' || s[j] == '\'')
	default:
		return i, false
	}
	for i < len(s) && strings.IndexByte("=:>|?!", s[i]) >= 0 {
		i++
	}
	return i, true
}

// flag reports whether the name that ends at end is a flag whose value follows
// a space: --token VALUE.
func flag(s string, at, end int) bool {
	if end >= len(s) || s[end] != ' ' {
		return false
	}
	from := at
	for from > 0 && at-from < maxName && (alnum(s[from-1]) || s[from-1] == '-' || s[from-1] == '_') {
		from--
	}
	return strings.HasPrefix(s[from:], "--")
}

func spaces(s string, i int) int {
	for from := i; i < len(s) && i-from < 8 && (s[i] == ' ' || s[i] == '\t'); {
		i++
	}
	return i
}

// valueEnd returns the end of the value that begins at i.
func valueEnd(s string, i int, quote byte) int {
	from := i
	for ; i < len(s) && i-from < maxValue; i++ {
		b := s[i]
		if b == '\n' || b == '\r' || b < ' ' {
			return i
		}
		if b == '\\' { // an escape, or the end of a quoted text inside a quoted text
			return i
		}
		if quote != 0 {
			if b == quote {
				return i
			}
			continue
		}
		if strings.IndexByte(" \t\"'`,;&<>(){}[]|", b) >= 0 {
			return i
		}
	}
	return i
}
