package redact

import "strings"

// assignRules find what is given to a name that says what it is: in code, JSON,
// YAML, .env files, on command lines, in URLs and in XML.
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

// service is the kind of what a service's name is given.
const service Kind = "service-key"

// serviceNames are names of services whose keys have no shape of their own:
// random letters and digits, given to a name that has that of the service.
func serviceNames() []string {
	return strings.Fields(`adafruit adobe algolia asana beamer bitbucket bittrex codecov coinbase confluent
		datadog dd_ discord droneci dropbox etsy facebook fastly finicity finnhub flickr freshbooks gitter
		heroku hubspot intercom jfrog artifactory jira confluence atlassian kraken kucoin launchdarkly linear linkedin
		looker mailchimp mailgun mapbox mattermost messagebird meraki netlify new-relic newrelic new_relic nytimes new-york-times
		newyorktimes okta openai plaid privateai privatai rapidapi sendbird sentry sidekiq snyk square squarespace
		sumo telegram travis trello twilio twitch twitter yandex zendesk cloudflare cohere co_api airtable contentful lob mpesa
		harness fly.io nuget typeform infracost facebook duffel clojars freemius hashicorp gcp heroku kubernetes polymarket`)
}

// before says which words make a key secret; they stand before "key".
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
	maxName  = 40 // of what follows the word in the name
	maxValue = 1024
)

// An assignment gives a value to a name with a word in it. It is of a secret if
// judge says that the value can be one.
type assignment struct {
	kind  Kind
	word  string
	judge func(string) bool
}

// secret reports whether the word at s[at:] makes the name that it is in one of
// a secret, as far as what stands before it goes.
func (a *assignment) secret(s string, at int) bool {
	if a.word == "key" {
		return keyed(s[max(0, at-16):at])
	}
	return !strings.HasSuffix(a.word, "=") && a.kind != service || at == 0 || !alnum(s[at-1])
}

// find is a [findFunc] of what is given to a name in text.
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

// given is a [givenFunc] of the name of a member.
func (a *assignment) given(name string, at, end int, value string) (Kind, bool) {
	return a.kind, value != "" && a.secret(name, at) && nameEnd(name, end) == len(name) && a.judge(value) && !placeholder(value)
}

// An assigned is what a name is given.
type assigned struct {
	from, to int
	quoted   bool
}

// valueOf returns the value of the name of which a word ends at end.
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

// nameEnd returns where the name ends that goes on at i; -1 if it says that it
// has no secret.
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

// operator returns where what gives a value to a name ends, and whether there
// was any.
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

// flag reports whether the name that ends at end is a flag whose value stands
// behind a space: --token VALUE.
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

// valueEnd returns where the value ends that begins at i.
func valueEnd(s string, i int, quote byte) int {
	from := i
	for ; i < len(s) && i-from < maxValue; i++ {
		b := s[i]
		if b == '\n' || b == '\r' || b < ' ' {
			return i
		}
		if b == '\\' { // the end of a quoted text in a quoted text, or an escape
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
