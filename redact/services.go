package redact

import (
	"regexp"
	"strings"
	"sync"
)

// A tokenShape is the form of a service's tokens that cannot be confused with
// anything else: text of that form is a token, whatever surrounds it and
// whatever its letters.
type tokenShape struct {
	kind   Kind
	prefix string // its beginning, case-sensitive
	rest   string // expression for the rest
}

// A lookalike is the form of tokens whose beginning other text may share: it is
// a token only if it stands alone.
type lookalike struct {
	kind   Kind
	prefix string  // its beginning, case-sensitive
	rest   string  // expression for the rest
	bits   float64 // minimum entropy of its bytes; names in code have less, or are wordy
}

// longest is the maximum length of a token, in bytes.
const longest = 4096

func serviceRules(tokens []tokenShape) (rules []secretRule) {
	for _, t := range tokens {
		rules = append(rules, secretRule{word: strings.ToLower(t.prefix), find: t.finder()})
	}
	for _, l := range likenesses() {
		rules = append(rules, secretRule{word: strings.ToLower(l.prefix), find: l.finder()})
	}
	return rules
}

// finder returns a function that finds such tokens.
func (t tokenShape) finder() findFunc {
	end := prefixed(t.prefix, t.rest)
	return func(s string, at, from int) []Secret {
		begun := begins(s, at)
		if !begun && (encoded(s, at) || spelled(s, from)) {
			return nil
		}
		to := end(s, at, from)
		if to < 0 || begun && to < from+longest && !ended(s, to) && spelled(s, from) {
			return nil
		}
		return []Secret{{t.kind, at, to}}
	}
}

// finder returns a function that finds such tokens.
func (l lookalike) finder() findFunc {
	end := prefixed(l.prefix, l.rest)
	return func(s string, at, from int) []Secret {
		if alnum(l.prefix[0]) && !begins(s, at) {
			return nil
		}
		to := end(s, at, from)
		if to < 0 || !ended(s, to) || l.bits > 0 && (entropy(s[from:to]) < l.bits || wordy(s[from:to])) {
			return nil
		}
		return []Secret{{l.kind, at, to}}
	}
}

// prefixed returns a function that returns the end of a token whose prefix is
// s[at:from] in any case, or -1. The expression is compiled when the prefix is
// first found: most never are.
func prefixed(prefix, rest string) func(s string, at, from int) int {
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + rest + `)`) })
	return func(s string, at, from int) int {
		if s[at:from] != prefix {
			return -1
		}
		m := compile().FindStringIndex(upTo(s, from, longest))
		if m == nil {
			return -1
		}
		return from + m[1]
	}
}

// Pieces of the expressions of tokens.
const (
	word  = `[A-Za-z0-9]`
	url64 = `[A-Za-z0-9_-]`
	hex   = `[0-9a-f]`
)

// likenesses returns the tokens whose prefix is not sufficient.
func likenesses() []lookalike {
	return []lookalike{
		{"aws-key", "ABIA", `[A-Z2-7]{16}`, 2.8},
		{"aws-key", "ACCA", `[A-Z2-7]{16}`, 2.8},
		{"aws-key", "A3T", `[A-Z0-9][A-Z2-7]{16}`, 2.8},
		{"aws-key", "ABSK", `[A-Za-z0-9+/]{109,269}={0,2}`, 3},
		{"aws-key", "bedrock-api-key-", `[A-Za-z0-9+/=_.%-]{20,512}`, 3},
		{"alibaba-key", "LTAI", word + `{12,30}`, 0},
		{"fly-token", "fo1_", `[\w-]{43}`, 3},
		{"yandex-key", "YC", url64 + `{38}`, 3.5},
		{"yandex-token", "t1.", `[A-Z0-9a-z_-]+={0,2}\.[A-Z0-9a-z_-]{86}={0,2}`, 3},
		{"crates-token", "cio", word + `{32}`, 3.5},
		{"artifactory-token", "cmVmd", word + `{59}`, 4},
		{"octopus-key", "API-", `[A-Z0-9]{26}`, 0},
		{"vercel-token", "vercel_", word + `{24,}`, 3},
		{"infracost-key", "ico-", word + `{32}`, 3},
		{"vault-token", "s.", word + `{24}`, 3.8},
		{"mailgun-key", "key-", hex + `{32}`, 3},
		{"mailgun-key", "pubkey-", hex + `{32}`, 3},
		{"twilio-key", "SK", `[0-9a-fA-F]{32}`, 0},
		{"notion-token", "secret_", word + `{43}`, 3},
		{"asana-token", "0/", `[0-9a-f]{32}`, 3},
		{"square-token", "EAAA", `[\w=-]{22,60}`, 3.5},
		{"facebook-token", "EAA", `(?:M|C)[A-Za-z0-9]{100,}`, 4},
		{"gocardless-token", "live_", `[\w=-]{35,40}`, 3.3},
		{"clickhouse-key", "4b1d", word + `{38}`, 3},
		{"jwt", "ZXlK", `[A-Za-z0-9/+]{60,}={0,2}`, 4},
	}
}

// services returns the tokens that are recognized by their beginning. The
// lengths are those that vendors document (checked 2026-11).
func services() []tokenShape {
	return []tokenShape{
		// clouds
		{"aws-key", "AKIA", `[A-Z2-7]{16}`},
		{"aws-key", "ASIA", `[A-Z2-7]{16}`},
		{"google-key", "AIza", url64 + `{35}`},
		{"google-token", "ya29.", url64 + `{20,}`},
		{"google-token", "GOCSPX-", url64 + `{28}`},
		{"digitalocean-token", "dop_v1_", hex + `{64}`},
		{"digitalocean-token", "doo_v1_", hex + `{64}`},
		{"digitalocean-token", "dor_v1_", hex + `{64}`},
		{"cloudflare-key", "v1.0-", hex + `{24}-` + hex + `{146}`},
		{"fly-token", "fm1", `[ar]_[A-Za-z0-9+/]{100,}={0,3}`},
		{"fly-token", "fm2_", `[A-Za-z0-9+/]{100,}={0,3}`},
		{"heroku-key", "HRKU-AA", `[\w-]{58}`},
		{"tencent-key", "AKID", word + `{32}`},
		{"yandex-key", "AQVN", url64 + `{35,38}`},
		{"scalingo-token", "tk-us-", `[\w-]{48}`},
		{"openshift-token", "sha256~", `[\w-]{43}`},
		{"tailscale-key", "tskey-", `[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}`},
		// code and packages
		{"github-token", "ghp_", word + `{36,255}`},
		{"github-token", "gho_", word + `{36,255}`},
		{"github-token", "ghu_", word + `{36,255}`},
		{"github-token", "ghs_", `[A-Za-z0-9_.-]{36,}`},
		{"github-token", "ghr_", word + `{36,255}`},
		{"github-token", "github_pat_", `\w{36,255}`},
		{"gitlab-token", "glpat-", `[\w-]{20,300}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?`},
		{"gitlab-token", "glptt-", hex + `{40}`},
		{"gitlab-token", "gldt-", `[\w-]{20,}`},
		{"gitlab-token", "glrt-", `[\w.-]{20,}`},
		{"gitlab-token", "glrtr-", `[\w.-]{20,}`},
		{"gitlab-token", "glcbt-", `[\w-]{20,}`},
		{"gitlab-token", "glsoat-", `[\w-]{20,}`},
		{"gitlab-token", "glagent-", `[\w-]{50,}`},
		{"gitlab-token", "glft-", `[\w-]{20,}`},
		{"gitlab-token", "glimt-", `[\w-]{25,}`},
		{"gitlab-token", "glffct-", `[\w-]{20,}`},
		{"gitlab-token", "gloas-", `[\w-]{64}`},
		{"gitlab-token", "GR1348941", `[\w-]{20,}`},
		{"gitlab-token", "_gitlab_session=", `[0-9a-z]{32}`},
		{"bitbucket-token", "ATBB", word + `{28,32}`},
		{"atlassian-token", "ATATT3", `[A-Za-z0-9_=-]{180,200}`},
		{"npm-token", "npm_", word + `{36}`},
		{"pypi-token", "pypi-AgE", url64 + `{50,1000}`},
		{"rubygems-key", "rubygems_", hex + `{48}`},
		{"clojars-token", "CLOJARS_", word + `{60}`},
		{"clojars-token", "clojars_", word + `{60}`},
		{"docker-token", "dckr_pat_", url64 + `{24,}`},
		{"docker-token", "dckr_oat_", url64 + `{24,}`},
		{"artifactory-key", "AKCp", word + `{69}`},
		{"sourcegraph-token", "sgp_", `(?:` + hex + `{16}_|local_)?` + hex + `{40}`},
		{"buildkite-token", "bkua_", hex + `{40}`},
		{"circleci-token", "CCIPRJ_", `\w{1,64}_` + hex + `{40}`},
		{"terraform-token", ".atlasv1.", `[A-Za-z0-9_=-]{60,70}`},
		{"pulumi-token", "pul-", hex + `{40}`},
		{"prefect-token", "pnu_", `[A-Za-z0-9]{36}`},
		{"harness-token", "pat.", `[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`},
		{"harness-token", "sat.", `[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`},
		{"netlify-token", "nfp_", word + `{36}`},
		{"vault-token", "hvs.", url64 + `{24,300}`},
		{"vault-token", "hvb.", url64 + `{24,300}`},
		{"vault-token", "hvr.", url64 + `{24,300}`},
		{"age-key", "AGE-SECRET-KEY-1", `[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`},
		{"onepassword-token", "ops_eyJ", `[A-Za-z0-9+/]{200,}={0,3}`},
		{"onepassword-key", "A3-", `[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`},
		{"authress-key", "ext_", `[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.(?:acc)[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}`},
		{"authress-key", "sc_", `[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.(?:acc)[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}`},
		{"defined-key", "dnkey-", `[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}`},
		{"doppler-token", "dp.pt.", word + `{43}`},
		{"doppler-token", "dp.st.", `[\w.-]{40,}`},
		// models
		{"huggingface-token", "hf_", `[A-Za-z]{34}`},
		{"huggingface-token", "api_org_", `[A-Za-z]{34}`},
		{"groq-key", "gsk_", word + `{40,}`},
		{"xai-key", "xai-", word + `{60,}`},
		{"perplexity-key", "pplx-", word + `{40,}`},
		{"replicate-token", "r8_", word + `{37}`},
		{"nvidia-key", "nvapi-", url64 + `{40,}`},
		{"langsmith-key", "lsv2_", `(?:pt|sk)_` + hex + `{32}_` + hex + `{10}`},
		{"cerebras-key", "csk-", word + `{40,}`},
		{"e2b-key", "e2b_", hex + `{40}`},
		{"tavily-key", "tvly-", `[\w-]{20,}`},
		// chat and mail
		{"slack-token", "xoxb-", `[\w-]{20,}`},
		{"slack-token", "xoxp-", `[\w-]{20,}`},
		{"slack-token", "xoxa-", `[\w-]{8,}`},
		{"slack-token", "xoxr-", `[\w-]{8,}`},
		{"slack-token", "xoxo-", `[\w-]{20,}`},
		{"slack-token", "xoxs-", `[\w-]{20,}`},
		{"slack-token", "xoxe-", `[\w-]{20,}`},
		{"slack-token", "xoxc-", `[\w-]{20,}`},
		{"slack-token", "xoxd-", `[\w%-]{20,}`},
		{"slack-token", "xoxe.", `xox[bp]-[\w-]{20,}`},
		{"slack-token", "xapp-", `[0-9]-[A-Za-z0-9]{6,}-[0-9]{6,}-[A-Za-z0-9]{16,}`},
		{"slack-webhook", "hooks.slack.com/", `(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,60}`},
		{"discord-webhook", "discord.com/api/webhooks/", `[0-9]{15,22}/[\w-]{50,}`},
		{"discord-webhook", "discordapp.com/api/webhooks/", `[0-9]{15,22}/[\w-]{50,}`},
		{"teams-webhook", ".webhook.office.com/webhookb2/", `[0-9a-z-]{36}@[0-9a-z-]{36}/(?i:IncomingWebhook)/[0-9a-z]{32}/[0-9a-z-]{36}`},
		{"sendgrid-token", "SG.", `[A-Za-z0-9_=.-]{66}`},
		{"brevo-token", "xkeysib-", hex + `{64}-[A-Za-z0-9]{16}`},
		{"linear-key", "lin_api_", word + `{40}`},
		{"notion-token", "ntn_", word + `{40,}`},
		{"airtable-token", "pat", `[A-Za-z0-9]{14}\.[0-9a-f]{64}`},
		{"figma-token", "figd_", `[\w-]{40,}`},
		{"typeform-token", "tfp_", `[A-Za-z0-9_.=-]{59}`},
		{"postman-token", "PMAK-", hex + `{24}-` + hex + `{34}`},
		{"readme-token", "rdme_", `[a-z0-9]{70}`},
		{"frameio-token", "fio-u-", `[A-Za-z0-9_=-]{64}`},
		{"contentful-token", "CFPAT-", `[\w-]{43}`},
		// payments
		{"stripe-key", "sk_live_", word + `{10,99}`},
		{"stripe-key", "sk_test_", word + `{10,99}`},
		{"stripe-key", "sk_prod_", word + `{10,99}`},
		{"stripe-key", "rk_live_", word + `{10,99}`},
		{"stripe-key", "rk_test_", word + `{10,99}`},
		{"stripe-key", "rk_prod_", word + `{10,99}`},
		{"stripe-secret", "whsec_", `[A-Za-z0-9+/]{24,}={0,2}`},
		{"square-token", "sq0atp-", `[\w-]{22,60}`},
		{"square-token", "sq0csp-", `[\w-]{43}`},
		{"shopify-token", "shpat_", `[0-9a-fA-F]{32}`},
		{"shopify-token", "shpca_", `[0-9a-fA-F]{32}`},
		{"shopify-token", "shppa_", `[0-9a-fA-F]{32}`},
		{"shopify-token", "shpss_", `[0-9a-fA-F]{32}`},
		{"shippo-token", "shippo_live_", hex + `{40}`},
		{"shippo-token", "shippo_test_", hex + `{40}`},
		{"duffel-token", "duffel_live_", `[\w=-]{43}`},
		{"duffel-token", "duffel_test_", `[\w=-]{43}`},
		{"easypost-token", "EZAK", word + `{54}`},
		{"easypost-token", "EZTK", word + `{54}`},
		{"flutterwave-key", "FLWSECK", `(?i:(?:_TEST)?-[0-9a-h]{12,40}(?:-X)?)`},
		{"flutterwave-key", "FLWPUBK", `(?i:(?:_TEST)?-[0-9a-h]{32}-X)`},
		{"razorpay-key", "rzp_live_", word + `{14,}`},
		{"plaid-token", "access-production-", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`},
		{"plaid-token", "access-sandbox-", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`},
		{"plaid-token", "access-development-", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`},
		// data and monitoring
		{"databricks-token", "dapi", hex + `{32}(?:-\d)?`},
		{"planetscale-token", "pscale_tkn_", `[\w=.-]{32,64}`},
		{"planetscale-token", "pscale_oauth_", `[\w=.-]{32,64}`},
		{"planetscale-password", "pscale_pw_", `[\w=.-]{32,64}`},
		{"supabase-key", "sbp_", hex + `{40}`},
		{"supabase-key", "sb_secret_", `[\w-]{20,}`},
		{"grafana-token", "glsa_", word + `{32}_[0-9A-Fa-f]{8}`},
		{"grafana-token", "glc_", `[A-Za-z0-9+/]{32,400}={0,3}`},
		{"grafana-token", "eyJrIjoi", `[A-Za-z0-9+/]{70,400}={0,3}`},
		{"newrelic-key", "NRAK-", `[A-Za-z0-9]{27}`},
		{"newrelic-key", "NRII-", `[A-Za-z0-9-]{32}`},
		{"newrelic-key", "NRJS-", `[0-9a-f]{19}`},
		{"dynatrace-token", "dt0c01.", `[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}`},
		{"sentry-token", "sntrys_", `[A-Za-z0-9+/=_]{60,}`},
		{"sentry-token", "sntryu_", hex + `{64}`},
		{"posthog-key", "phx_", word + `{40,}`},
		{"adobe-secret", "p8e-", `[A-Za-z0-9]{32}`},
		{"intra42-secret", "s-s4t2", `(?:ud|af)-[0-9a-f]{64}`},
		{"settlemint-token", "sm_", `(?:aat|pat|sat)_[A-Za-z0-9]{16}`},
		{"skein-token", "skein_", url64 + `{43}`},
	}
}
