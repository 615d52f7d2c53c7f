package redact

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// keyRules returns the rules for keys that need more than a prefix.
func keyRules() []secretRule {
	return []secretRule{
		{word: "-----begin", find: privateKey},
		{word: "sk-", find: modelKey()},
		{word: ":aa", find: telegramToken()},
		{word: "_mmk", find: maxmindKey()},
		{word: "q~", find: azureSecret()},
		{word: "-us", find: mailchimpKey()},
		{word: "eyj", find: jsonWebToken},
	}
}

// maxKey is the longest private key, in bytes.
const maxKey = 64 << 10

// privateKey finds a PEM block of a private key, even if it is cut off, as
// lines or in a quoted text with \n.
func privateKey(s string, at, end int) []Secret {
	head, _, ok := strings.Cut(upTo(s, end, 80), "-----")
	if !ok || !strings.Contains(strings.ToUpper(head), "PRIVATE KEY") {
		return nil
	}
	from := end + len(head) + len("-----")
	n := strings.Index(upTo(s, from, maxKey), "-----END")
	if n < 0 {
		n = keyLength(upTo(s, from, maxKey))
	}
	if n <= 16 {
		return nil
	}
	to := from + n
	if strings.HasPrefix(s[to:], "-----END") {
		to += len("-----END")
		if j := strings.Index(upTo(s, to, 80), "-----"); j >= 0 {
			to += j + len("-----")
		}
	}
	return []Secret{{"private-key", at, to}}
}

// keyLength returns how much of s can be the content of a PEM block.
func keyLength(s string) int {
	for i := range len(s) {
		switch b := s[i]; {
		case alnum(b), strings.IndexByte("+/=\r\n", b) >= 0:
		case b == '\\' && i+1 < len(s) && (s[i+1] == 'n' || s[i+1] == 'r'):
		default:
			return i
		}
	}
	return len(s)
}

// Bounds of a model's key, in bytes.
const (
	leastModelKey = 23
	maxModelKey   = 512
)

// modelKey finds the keys of model providers: most begin alike. Some have an
// unmistakable shape; others are distinguished from hyphenated names by
// standing alone and by their letters.
func modelKey() findFunc {
	shaped := sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^sk-(?:ant-[a-z]+[0-9]+-[\w-]{20}|(?:proj|svcacct|admin)-[\w-]{40}|or-v1-[0-9a-f]{64})`)
	})
	unbroken := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sk-(?:[a-z]{2,8}-)?[A-Za-z0-9]{32}`) })
	return func(s string, at, end int) []Secret {
		to := part(s, end, maxModelKey)
		if s[at:end] != "sk-" || to-at < leastModelKey || !alnum(s[end]) {
			return nil
		}
		key, alone := s[at:to], begins(s, at)
		switch {
		case strings.Contains(key, "T3BlbkFJ"):
		case (alone || !spelled(s, at)) && shaped().MatchString(key):
		case (alone || mixed(key)) && unbroken().MatchString(key):
		case alone && random(key[len("sk-"):]):
		default:
			return nil
		}
		return []Secret{{modelKind(key), at, to}}
	}
}

// mixed reports whether v has letters of both cases and digits, which an ID
// after another word, such as that of task-ID, does not.
func mixed(v string) bool {
	var has [4]bool
	for i := range len(v) {
		has[class(v[i])] = true
	}
	return has[1] && has[2] && strings.ContainsAny(v, "0123456789")
}

// modelKind returns the kind of a model provider's key.
func modelKind(key string) Kind {
	switch {
	case strings.HasPrefix(key, "sk-ant-"):
		return "anthropic-key"
	case strings.Contains(key, "T3BlbkFJ"), strings.HasPrefix(key, "sk-proj-"), strings.HasPrefix(key, "sk-svcacct-"), strings.HasPrefix(key, "sk-admin-"):
		return "openai-key"
	}
	return "model-key"
}

// telegramToken finds a bot's token: its number precedes the word.
func telegramToken() findFunc {
	const digits = 16
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:A[\w-]{34}`) })
	return func(s string, at, _ int) []Secret {
		from := at
		for from > 0 && at-from < digits && '0' <= s[from-1] && s[from-1] <= '9' {
			from--
		}
		if at-from < 5 {
			return nil
		}
		m := compile().FindStringIndex(upTo(s, at, 64))
		if m == nil || !ended(s, at+m[1]) && spelled(s, at+1) {
			return nil
		}
		return []Secret{{"telegram-token", from, at + m[1]}}
	}
}

// behind returns a finder of text that matches the expressions before and after
// on both sides of the word, in its exact case, within n bytes.
func behind(kind Kind, word, before, after string, n int) findFunc {
	head := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:` + before + `)$`) })
	tail := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + after + `)`) })
	return func(s string, at, end int) []Secret {
		if at == 0 || s[at-1] <= ' ' || s[at:end] != word {
			return nil
		}
		t := tail().FindStringIndex(upTo(s, end, n))
		if t == nil {
			return nil
		}
		from := max(0, at-n)
		h := head().FindStringIndex(s[from:at])
		if h == nil || spelled(s, from+h[0]) {
			return nil
		}
		return []Secret{{kind, from + h[0], end + t[1]}}
	}
}

func maxmindKey() findFunc {
	return behind("maxmind-key", "_mmk", `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}`, ``, 36)
}

func azureSecret() findFunc {
	return behind("azure-secret", "Q~", `[A-Za-z0-9_~.]{3}[0-9]`, `[A-Za-z0-9_~.-]{31,34}`, 34)
}

func mailchimpKey() findFunc {
	return behind("mailchimp-key", "-us", `[0-9a-f]{32}`, `[0-9]{1,2}`, 32)
}

// Bounds of a JSON Web Token, in bytes.
const (
	maxTokenHead = 1024
	maxTokenPart = 16 << 10
)

// jsonWebToken finds three to five parts separated by dots, the first of which
// is a JSON object: its first two bytes are the word.
func jsonWebToken(s string, at, end int) []Secret {
	if s[at:end] != "eyJ" {
		return nil
	}
	head, parts := part(s, at, maxTokenHead), 1
	to := head
	for ; parts < 5 && to < len(s) && s[to] == '.'; parts++ {
		next := part(s, to+1, maxTokenPart)
		if next-to < 7 {
			break
		}
		to = next
	}
	if parts < 3 {
		return nil
	}
	if b, err := base64.RawURLEncoding.DecodeString(s[at:head]); err != nil || !json.Valid(b) {
		if !begins(s, at) || !ended(s, to) || entropy(s[end:to]) < 3 || wordy(s[at:to]) {
			return nil
		}
	}
	return []Secret{{"jwt", at, to}}
}

// part returns the end of the URL-safe base64 that begins at i and has at most
// most bytes.
func part(s string, i, most int) int {
	for from := i; i < len(s) && i-from < most && (alnum(s[i]) || s[i] == '_' || s[i] == '-'); {
		i++
	}
	return i
}
