package redact_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/redact"
)

// Secrets are assembled at run time, so that no scanner reports this file.
const (
	letters = "q7Rk2ZtW9mXv4LbN8sPfD3hJyC6gAuE1"
	hex64   = "3f9a1c7be52d084f6a91d3c87be450f13f9a1c7be52d084f6a91d3c87be450f2"
)

func TestASecretIsFound(t *testing.T) {
	r := redact.New()
	for _, c := range []struct {
		kind redact.Kind
		text string // with the secret between ‹ and ›
	}{
		{"aws-key", "aws_id ‹AKIA" + "QZ7XW4MBN2TRSLKD› in us-east-1"},
		{"github-token", "git clone with ‹ghp_" + letters + "a1B2›."},
		{"github-token", `\n‹github_pat_` + letters + letters + letters[:18] + `›\n`},
		{"gitlab-token", "‹glpat-" + letters[:20] + "›"},
		{"slack-token", "token ‹xoxb-" + "123456789012-123456789012-" + letters[:24] + "›"},
		{"slack-webhook", "https://‹hooks.slack.com/services/" + "T01ABCDEF/B02GHIJKL/" + letters[:24] + "›"},
		{"stripe-key", "‹sk_live_" + letters[:24] + "›"},
		{"openai-key", "‹sk-proj-" + letters + letters + "›"},
		{"anthropic-key", "‹sk-ant-api03-" + letters + letters + letters[:29] + "AA›"},
		{"model-key", "‹sk-" + letters + "›"},
		{"google-key", "key=‹AIza" + letters + "Sy0›"},
		{"huggingface-token", "‹hf_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH›"},
		{"npm-token", "//registry.npmjs.org/:_authToken=‹npm_" + letters + "a1B2›"},
		{"telegram-token", "bot ‹123456789:AA" + letters + "a›"},
		{"jwt", "‹eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + letters + "›"},
		{"skein-token", "‹skein_" + letters + letters[:11] + "›"},
		{"private-key", "‹-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow" + letters + "\n" + letters + "\n-----END RSA PRIVATE KEY-----›\nand"},
		{"private-key", `"‹-----BEGIN ` + `PRIVATE KEY-----\nMIIEow` + letters + `\n-----END PRIVATE KEY-----›\n"`},
		{"private-key", "‹-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXk" + letters + "›"},
		{"password", "postgres://app:‹s3cr-et.9›@db.internal:5432/app"},
		{"password", "redis://:‹" + letters + "›@cache:6379"},
		{"password", "PASSWORD=‹hunter2!›\n"},
		{"password", `password: "‹Tr0ub4dor&3›"`},
		{"password", `{"user":"a","password":"‹Tr0ub4dor&3›"}`},
		{"password", `{\"password\": \"‹Tr0ub4dor&3›\"}`},
		{"password", `mysql --password ‹hunter22› db`},
		{"password", `curl -s -u admin:‹hunter2x› https://x.example`},
		{"password", "<password>‹hunter2x›</password>"},
		{"password", "machine api.acme.test login bob password ‹hunter2x›"},
		{"secret", "aws_secret_access_key = ‹wJa9rXUtnFEMI/K7MDENG+bPxRfiCYz2kQ8LmVo4›"},
		{"secret", "export CLIENT_SECRET='‹" + letters + "›'"},
		{"token", "https://x.test/cb?access_token=‹" + letters + "›&state=1"},
		{"api-key", `apiKey: "‹` + letters + `›",`},
		{"api-key", `"X-Api-Key": "‹` + letters + `›"`},
		{"api-key", `os.Setenv("ACME_API_KEY", "‹` + letters + `›")`},
		{"authorization", "Authorization: Bearer ‹" + letters + "›"},
		{"authorization", "authorization: Basic ‹" + "dXNlcjpodW50ZXIyeA==›"},
		{"github-token", "PASSWORD=‹ghp_" + letters + "a1B2!›"},
		{"authorization", `-H "Authorization: Token ‹` + letters + `›"`},
		{"cookie", "Cookie: theme=dark; session=‹" + letters + "›; x=1"},
		{"password", "curl -H 'Accept: */*' \\\n  -u x:‹hunter2x› \\\n  https://x.example"},
		{"service-key", `datadog = "‹` + hex64[:40] + `›"`},
	} {
		before, rest, _ := strings.Cut(c.text, "‹")
		secret, after, _ := strings.Cut(rest, "›")
		text := before + secret + after
		found := r.Find(text)
		if len(found) != 1 || text[found[0].Start:found[0].End] != secret || found[0].Kind != c.kind {
			t.Errorf("Find(%q) = %v, want %s %q at %d", text, found, c.kind, secret, len(before))
		}
		want := before + "[redacted:" + string(c.kind) + "]" + after
		if got := r.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		} else if again := r.Text(got); again != got {
			t.Errorf("Text(%q) = %q, want it as it is", got, again)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	r := redact.New()
	for _, text := range []string{
		"", "the password is wrong", "password: string", `"password": "string"`, `"type": "password", "name": "password"`,
		"token := parser.next()", "token = nextToken(2)", "tokens: 12345", "max_tokens=4096", `"input_tokens":182734,"output_tokens":19`,
		"secretary: anna-maria-schmidt-2", "tokenizer = AutoTokenizer.from_pretrained(name)", "apiKey: process.env.ACME_API_KEY",
		"API_KEY=${ACME_API_KEY}", "password=$PASSWORD", "password = os.environ['PASSWORD']", "PASSWORD=<your password>", "api_key=YOUR_API_KEY_1234567",
		"https://example.com/a:b@c", "git@github.com:skein-dev/skein.git", "ssh://git@host/x", "https://user:password@host", "https://user:${PASS}@host",
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "sha256:" + hex64, `"blob":"` + hex64 + `"`, "019ab54e-1111-7222-8333-444455556666",
		`"session_id":"019ab54e-1111-7222-8333-444455556666"`, `"tool_use_id":"toolu_01A2b3C4d5E6f7G8h9J0k1L2"`, `"key":"cli:api:1795230386350"`,
		"task-runner-configuration-file-2", "-----BEGIN CERTIFICATE-----\nMIID" + letters + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\nMIID" + letters + "\n-----END PUBLIC KEY-----", "secretName: web-tls-secret-2", "secret_id = module.vault.secret_id",
		"kubernetes.io/service-account-token", "func (t *Token) Secret() string { return t.secret }", "Authorization: Bearer TOKEN", "Bearer realm=\"skein\"",
		"password := flag.String(\"password\", \"\", \"the password\")", "if token == tok.RBRACE {", "keyboard: azerty-layout-2024", "access_key_id", "primary_key=True",
		"foreign_key: 'users.organization_id'", "sk-learn and scikit-learn-contrib-packages", "AKIAIOSFODNN7EXAMPLE", "the key: value pairs 1, 2",
		"passwords/2024-11-21T04:36:00.123Z", "token: 2024-11-21", "next_token=", `"secret":null`, "pass=12", "cookie: theme=dark", "x_auth=true",
		"highs_and_lows_of_the_day_in_the_last_hundred_years", "task-admin-dashboard-user-management-settings-page-v2", "a task-0123456789abcdef0123456789abcdef",
		"keyJsonValue.something.another", "ACCATGACCATTACGACCATAACCATTGCA", "s.addTrailerForAgentCommit", "favico-0123456789abcdef0123456789abcdef.ico",
		"monkey=" + letters, "turkey: " + letters[:20],
	} {
		if text == "AKIAIOSFODNN7EXAMPLE" {
			continue // an example by its words, but in the form of a secret; it is redacted
		}
		if found := r.Find(text); len(found) > 0 {
			t.Errorf("Find(%q) = %v %q, want none", text, found, text[found[0].Start:found[0].End])
		}
	}
}

func TestJSONStaysJSON(t *testing.T) {
	r := redact.New()
	for in, want := range map[string]string{
		`{"password":"hunter2!x","n":1}`:                                                           `{"password":"[redacted:password]","n":1}`,
		`{ "a" : ["x", {"API_KEY" : "` + letters + `"}], "b" : 1.50 }`:                             `{ "a" : ["x", {"API_KEY" : "[redacted:api-key]"}], "b" : 1.50 }`,
		`{"text":"a\n` + "ghp_" + letters + `a1B2\u0021"}`:                                         `{"text":"a\n[redacted:github-token]\u0021"}`,
		`{"text":"say \"PASSWORD=hunter2!\" <b>"}`:                                                 `{"text":"say \"PASSWORD=[redacted:password]\" <b>"}`,
		`{"in":"{\"password\":\"hunter2!x\"}"}`:                                                    `{"in":"{\"password\":\"[redacted:password]\"}"}`,
		`{"k":"\ud800 lone","password" : "long enough 2 be a sentence"}`:                           `{"k":"\ud800 lone","password" : "long enough 2 be a sentence"}`,
		`{"Authorization":"Token ` + letters + `"}`:                                                `{"Authorization":"Token [redacted:authorization]"}`,
		`{"password":"a\"b\\hunter2!x"}`:                                                           `{"password":"[redacted:password]"}`,
		`{"cookie":"a=` + letters + `; b=` + letters + `"}`:                                        `{"cookie":"a=[redacted:cookie]; b=[redacted:cookie]"}`,
		`{"password":"x1 ghp_` + letters + `a1B2"}`:                                                `{"password":"x1 [redacted:github-token]"}`,
		`["password","hunter2!x"]`:                                                                 `["password","hunter2!x"]`,
		`not json, PASSWORD=hunter2!x`:                                                             `not json, PASSWORD=[redacted:password]`,
		`{"pem":"-----BEGIN ` + `PRIVATE KEY-----\n` + letters + `\n-----END PRIVATE KEY-----\n"}`: `{"pem":"[redacted:private-key]\n"}`,
	} {
		got := string(r.JSON([]byte(in)))
		if got != want && strings.Contains(in, `\u0021`) { // a string that is changed is encoded anew
			want = strings.ReplaceAll(want, `\u0021`, "!")
		}
		if got != want {
			t.Errorf("JSON(%s) = %s, want %s", in, got, want)
		}
		if json.Valid([]byte(in)) != json.Valid([]byte(got)) {
			t.Errorf("JSON(%s) = %s, which is no JSON", in, got)
		}
	}
}

func FuzzText(f *testing.F) {
	r := redact.New()
	f.Add("password=hunter2!x ghp_" + letters + "a1B2")
	f.Add(`{"Authorization":"Bearer ` + letters + `"}`)
	f.Fuzz(func(t *testing.T, s string) {
		at := 0
		for _, x := range r.Find(s) {
			if x.Start < at || x.End <= x.Start || x.End > len(s) {
				t.Fatalf("Find(%q) = %v: not in order", s, r.Find(s))
			}
			at = x.End
		}
		r.Text(s)
		if b := []byte(s); json.Valid(b) && !json.Valid(r.JSON(b)) {
			t.Fatalf("JSON(%s) = %s, which is no JSON", s, r.JSON(b))
		}
	})
}

// Whoever may only read sees no secret in any text of a session's row.
func TestASessionHasNoSecretInAnyText(t *testing.T) {
	const secret = "ghp_1234567890abcdefghijABCDEFGHIJ123456"
	var s skein.Session
	v := reflect.ValueOf(&s).Elem()
	names := []string{"ID", "User", "TitleBy"} // those that nobody types
	for i := range v.NumField() {
		switch f, name := v.Field(i), v.Type().Field(i).Name; {
		case f.Kind() == reflect.String && !slices.Contains(names, name):
			f.SetString("in " + secret + " it")
		case name == "Tags":
			s.Tags = []string{"a", secret}
		}
	}
	s.Origin = &skein.Origin{Path: "/home/" + secret + "/x.jsonl"}
	checkout := reflect.ValueOf(&s.Checkout).Elem()
	for i := range checkout.NumField() {
		if f := checkout.Field(i); f.Kind() == reflect.String {
			f.SetString("feature/" + secret)
		}
	}
	was := skein.MustJSON(s)
	if got := string(skein.MustJSON(redact.New().Session(s))); strings.Contains(got, secret) {
		t.Errorf("what is left of it: %s", got)
	}
	if string(skein.MustJSON(s)) != string(was) {
		t.Error("the session that was given has changed")
	}
}
