package redact

import (
	"regexp"
	"strings"
	"sync"
)

// keyRules are of keys that are known by more than how they begin.
func keyRules() []rule {
	return []rule{
		{word: "-----begin", find: privateKey},
		{word: "sk-", find: modelKey()},
		{word: ":aa", find: telegramToken()},
		{word: "_mmk", find: maxmindKey()},
		{word: "q~", find: azureSecret()},
		{word: "-us", find: mailchimpKey()},
	}
}

// maxKey is the longest private key, in bytes.
const maxKey = 64 << 10

// privateKey finds a PEM block of a private key, what was cut off of it
// included, as it stands or in a quoted text with \n.
func privateKey(s string, at, end int) (Secret, bool) {
	head, _, ok := strings.Cut(upTo(s, end, 80), "-----")
	if !ok || !strings.Contains(strings.ToUpper(head), "PRIVATE KEY") {
		return Secret{}, false
	}
	from := end + len(head) + len("-----")
	body := upTo(s, from, maxKey)
	if i := strings.Index(body, "-----END"); i >= 0 {
		to := from + i + len("-----END")
		if j := strings.Index(upTo(s, to, 80), "-----"); j >= 0 {
			to += j + len("-----")
		}
		return Secret{"private-key", at, to}, i > 16
	}
	n := keyLength(body)
	return Secret{"private-key", at, from + n}, n > 16
}

// keyLength returns how much of s can be the inside of a PEM block.
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

// modelKey finds the keys of those who serve models: most begin alike.
func modelKey() finder {
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sk-[A-Za-z0-9][\w-]{19,}`) })
	return func(s string, at, _ int) (Secret, bool) {
		if s[at:at+2] != "sk" || !begins(s, at) {
			return Secret{}, false
		}
		m := compile().FindStringIndex(upTo(s, at, 512))
		if m == nil {
			return Secret{}, false
		}
		key := s[at : at+m[1]]
		kind := Kind("model-key")
		switch {
		case strings.HasPrefix(key, "sk-ant-"):
			kind = "anthropic-key"
		case strings.Contains(key, "T3BlbkFJ"), strings.HasPrefix(key, "sk-proj-"), strings.HasPrefix(key, "sk-svcacct-"), strings.HasPrefix(key, "sk-admin-"):
			kind = "openai-key"
		}
		return Secret{kind, at, at + len(key)}, random(key[3:])
	}
}

// telegramToken finds a bot's token: its number stands before the word.
func telegramToken() finder {
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:A[\w-]{34}`) })
	return func(s string, at, _ int) (Secret, bool) {
		from := at
		for from > 0 && at-from < 17 && '0' <= s[from-1] && s[from-1] <= '9' {
			from--
		}
		if at-from < 5 || at-from > 16 {
			return Secret{}, false
		}
		m := compile().FindStringIndex(upTo(s, at, 64))
		if m == nil || !ended(s, at+m[1]) || entropy(s[at+1:at+m[1]]) < 3 {
			return Secret{}, false
		}
		return Secret{"telegram-token", from, at + m[1]}, true
	}
}

// behind returns a finder of what the expression e, which ends in $ after the
// word, finds in the n bytes up to there and the n after it.
func behind(kind Kind, before, after string, n int) finder {
	head := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:` + before + `)$`) })
	tail := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + after + `)`) })
	return func(s string, at, end int) (Secret, bool) {
		if at == 0 || !alnum(s[at-1]) && s[at-1] != '~' && s[at-1] != '.' && s[at-1] != '_' {
			return Secret{}, false
		}
		t := tail().FindStringIndex(upTo(s, end, n))
		if t == nil || !ended(s, end+t[1]) {
			return Secret{}, false
		}
		from := max(0, at-n)
		h := head().FindStringIndex(s[from:at])
		if h == nil || !begins(s, from+h[0]) {
			return Secret{}, false
		}
		got := Secret{kind, from + h[0], end + t[1]}
		return got, entropy(s[got.Start:got.End]) >= 3
	}
}

func maxmindKey() finder { return behind("maxmind-key", `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}`, ``, 40) }

func azureSecret() finder {
	return behind("azure-secret", `[A-Za-z0-9_~.]{3}[0-9]`, `[A-Za-z0-9_~.-]{31,34}`, 40)
}

func mailchimpKey() finder { return behind("mailchimp-key", `[0-9a-f]{32}`, `[0-9]{1,2}`, 40) }
