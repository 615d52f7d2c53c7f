package redact

import (
	"regexp"
	"strings"
	"sync"
)

// A token says what one of a service looks like.
type token struct {
	kind   Kind
	prefix string  // that it begins with, in its case
	rest   string  // expression of what follows
	bits   float64 // that its bytes have at least, so that examples are no secrets
}

// longest is how far a token may reach, in bytes.
const longest = 4096

func serviceRules(tokens []token) (rules []rule) {
	for _, s := range tokens {
		rules = append(rules, rule{word: strings.ToLower(s.prefix), find: s.finder()})
	}
	return rules
}

// finder returns what finds such tokens. Its expression is compiled when its
// prefix is met for the first time: most never are.
func (v token) finder() finder {
	compile := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + v.rest + `)`) })
	return func(s string, at, end int) (Secret, bool) {
		if s[at:end] != v.prefix || alnum(v.prefix[0]) && !begins(s, at) {
			return Secret{}, false
		}
		m := compile().FindStringIndex(upTo(s, end, longest))
		if m == nil || !ended(s, end+m[1]) {
			return Secret{}, false
		}
		to := end + m[1]
		if entropy(s[end:to]) < v.bits {
			return Secret{}, false
		}
		return Secret{v.kind, at, to}, true
	}
}

// services returns the tokens that are known by how they begin. What vendors
// say of their tokens is where the lengths come from (checked 2026-11); where
// they say little the expression is wide and the entropy tells.
func services() []token {
	const (
		word  = `[A-Za-z0-9]`
		url64 = `[A-Za-z0-9_-]`
		hex   = `[0-9a-f]`
		jwt   = `[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}={0,2}(?:\.[A-Za-z0-9_-]+){0,2}`
	)
	return []token{
		// clouds
		{"aws-key", "AKIA", `[A-Z2-7]{16}`, 2.8},
		{"aws-key", "ASIA", `[A-Z2-7]{16}`, 2.8},
		{"aws-key", "ABIA", `[A-Z2-7]{16}`, 2.8},
		{"aws-key", "ACCA", `[A-Z2-7]{16}`, 2.8},
		{"aws-key", "A3T", `[A-Z0-9][A-Z2-7]{16}`, 2.8},
		{"aws-key", "ABSK", `[A-Za-z0-9+/]{109,269}={0,2}`, 3},
		{"aws-key", "bedrock-api-key-", `[A-Za-z0-9+/=_.%-]{20,}`, 3},
		{"google-key", "AIza", url64 + `{35}`, 3},
		{"google-token", "ya29.", url64 + `{20,}`, 3},
		{"google-token", "GOCSPX-", url64 + `{28}`, 3},
		{"alibaba-key", "LTAI", word + `{12,30}`, 2.8},
		{"digitalocean-token", "dop_v1_", hex + `{64}`, 3},
		{"digitalocean-token", "doo_v1_", hex + `{64}`, 3},
		{"digitalocean-token", "dor_v1_", hex + `{64}`, 3},
		{"cloudflare-key", "v1.0-", hex + `{24}-` + hex + `{146}`, 2},
		{"fly-token", "fo1_", `[\w-]{43}`, 3},
		{"fly-token", "fm1", `[ar]_[A-Za-z0-9+/]{100,}={0,3}`, 3},
		{"fly-token", "fm2_", `[A-Za-z0-9+/]{100,}={0,3}`, 3},
		{"heroku-key", "HRKU-AA", `[\w-]{58}`, 3},
		{"tencent-key", "AKID", word + `{32}`, 3},
		{"yandex-key", "AQVN", url64 + `{35,38}`, 3},
		{"yandex-key", "YC", url64 + `{38}`, 3.5},
		{"yandex-token", "t1.", `[A-Z0-9a-z_-]+={0,2}\.[A-Z0-9a-z_-]{86}={0,2}`, 3},
		{"scalingo-token", "tk-us-", `[\w-]{48}`, 2},
		{"openshift-token", "sha256~", `[\w-]{43}`, 3.5},
		{"tailscale-key", "tskey-", `[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16,}`, 3},
		// code and packages
		{"github-token", "ghp_", word + `{36,255}`, 3},
		{"github-token", "gho_", word + `{36,255}`, 3},
		{"github-token", "ghu_", word + `{36,255}`, 3},
		{"github-token", "ghs_", `[A-Za-z0-9_.-]{36,}`, 3},
		{"github-token", "ghr_", word + `{36,255}`, 3},
		{"github-token", "github_pat_", `\w{36,255}`, 3},
		{"gitlab-token", "glpat-", `[\w-]{20,300}(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?`, 3},
		{"gitlab-token", "glptt-", hex + `{40}`, 3},
		{"gitlab-token", "gldt-", `[\w-]{20,}`, 3},
		{"gitlab-token", "glrt-", `[\w.-]{20,}`, 3},
		{"gitlab-token", "glrtr-", `[\w.-]{20,}`, 3},
		{"gitlab-token", "glcbt-", `[\w-]{20,}`, 3},
		{"gitlab-token", "glsoat-", `[\w-]{20,}`, 3},
		{"gitlab-token", "glagent-", `[\w-]{50,}`, 3},
		{"gitlab-token", "glft-", `[\w-]{20,}`, 3},
		{"gitlab-token", "glimt-", `[\w-]{25,}`, 3},
		{"gitlab-token", "glffct-", `[\w-]{20,}`, 3},
		{"gitlab-token", "gloas-", `[\w-]{64}`, 3},
		{"gitlab-token", "GR1348941", `[\w-]{20,}`, 3},
		{"gitlab-token", "_gitlab_session=", `[0-9a-z]{32}`, 3},
		{"bitbucket-token", "ATBB", word + `{28,32}`, 3},
		{"atlassian-token", "ATATT3", `[A-Za-z0-9_=-]{180,200}`, 3.5},
		{"npm-token", "npm_", word + `{36}`, 3},
		{"pypi-token", "pypi-AgE", url64 + `{50,1000}`, 3},
		{"rubygems-key", "rubygems_", hex + `{48}`, 2},
		{"clojars-token", "CLOJARS_", word + `{60}`, 2},
		{"clojars-token", "clojars_", word + `{60}`, 2},
		{"crates-token", "cio", word + `{32}`, 3.5},
		{"docker-token", "dckr_pat_", url64 + `{24,}`, 3},
		{"docker-token", "dckr_oat_", url64 + `{24,}`, 3},
		{"artifactory-key", "AKCp", word + `{69}`, 4},
		{"artifactory-token", "cmVmd", word + `{59}`, 4},
		{"sourcegraph-token", "sgp_", `(?:` + hex + `{16}_|local_)?` + hex + `{40}`, 3},
		{"buildkite-token", "bkua_", hex + `{40}`, 3},
		{"circleci-token", "CCIPRJ_", `\w+_` + hex + `{40}`, 3},
		{"terraform-token", ".atlasv1.", `[A-Za-z0-9_=-]{60,70}`, 3.5},
		{"pulumi-token", "pul-", hex + `{40}`, 2},
		{"prefect-token", "pnu_", `[A-Za-z0-9]{36}`, 2},
		{"harness-token", "pat.", `[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`, 3},
		{"harness-token", "sat.", `[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`, 3},
		{"octopus-key", "API-", `[A-Z0-9]{26}`, 3},
		{"vercel-token", "vercel_", word + `{24,}`, 3},
		{"netlify-token", "nfp_", word + `{36}`, 3},
		{"infracost-key", "ico-", word + `{32}`, 3},
		{"vault-token", "hvs.", url64 + `{24,300}`, 3},
		{"vault-token", "hvb.", url64 + `{24,300}`, 3},
		{"vault-token", "s.", word + `{24}`, 3.8},
		{"vault-token", "hvr.", url64 + `{24,300}`, 3},
		{"age-key", "AGE-SECRET-KEY-1", `[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`, 3},
		{"onepassword-token", "ops_eyJ", `[A-Za-z0-9+/]{200,}={0,3}`, 3},
		{"onepassword-key", "A3-", `[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}`, 3.5},
		{"authress-key", "ext_", `[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.(?:acc)[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}`, 3},
		{"authress-key", "sc_", `[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.(?:acc)[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}`, 3},
		{"defined-key", "dnkey-", `[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}`, 3},
		{"doppler-token", "dp.pt.", word + `{43}`, 2},
		{"doppler-token", "dp.st.", `[\w.-]{40,}`, 3},
		// models
		{"huggingface-token", "hf_", `[A-Za-z]{34}`, 2},
		{"huggingface-token", "api_org_", `[A-Za-z]{34}`, 2},
		{"groq-key", "gsk_", word + `{40,}`, 3},
		{"xai-key", "xai-", word + `{60,}`, 3},
		{"perplexity-key", "pplx-", word + `{40,}`, 3},
		{"replicate-token", "r8_", word + `{37}`, 3},
		{"nvidia-key", "nvapi-", url64 + `{40,}`, 3},
		{"langsmith-key", "lsv2_", `(?:pt|sk)_` + hex + `{32}_` + hex + `{10}`, 3},
		{"cerebras-key", "csk-", word + `{40,}`, 3},
		{"e2b-key", "e2b_", hex + `{40}`, 3},
		{"tavily-key", "tvly-", `[\w-]{20,}`, 3},
		// talk and mail
		{"slack-token", "xoxb-", `[\w-]{20,}`, 2},
		{"slack-token", "xoxp-", `[\w-]{20,}`, 2},
		{"slack-token", "xoxa-", `[\w-]{8,}`, 2},
		{"slack-token", "xoxr-", `[\w-]{8,}`, 2},
		{"slack-token", "xoxo-", `[\w-]{20,}`, 2},
		{"slack-token", "xoxs-", `[\w-]{20,}`, 2},
		{"slack-token", "xoxe-", `[\w-]{20,}`, 2},
		{"slack-token", "xoxc-", `[\w-]{20,}`, 2},
		{"slack-token", "xoxd-", `[\w%-]{20,}`, 2},
		{"slack-token", "xoxe.", `xox[bp]-[\w-]{20,}`, 2},
		{"slack-token", "xapp-", `[0-9]-[A-Za-z0-9]+-[0-9]+-[A-Za-z0-9]+`, 2},
		{"slack-webhook", "hooks.slack.com/", `(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,60}`, 2},
		{"discord-webhook", "discord.com/api/webhooks/", `[0-9]{15,22}/[\w-]{50,}`, 3},
		{"discord-webhook", "discordapp.com/api/webhooks/", `[0-9]{15,22}/[\w-]{50,}`, 3},
		{"teams-webhook", ".webhook.office.com/webhookb2/", `[0-9a-z-]{36}@[0-9a-z-]{36}/(?i:IncomingWebhook)/[0-9a-z]{32}/[0-9a-z-]{36}`, 3},
		{"sendgrid-token", "SG.", `[A-Za-z0-9_=.-]{66}`, 2},
		{"mailgun-key", "key-", hex + `{32}`, 3},
		{"mailgun-key", "pubkey-", hex + `{32}`, 3},
		{"brevo-token", "xkeysib-", hex + `{64}-[A-Za-z0-9]{16}`, 2},
		{"twilio-key", "SK", `[0-9a-fA-F]{32}`, 3},
		{"linear-key", "lin_api_", word + `{40}`, 2},
		{"notion-token", "ntn_", word + `{40,}`, 3},
		{"notion-token", "secret_", word + `{43}`, 3},
		{"asana-token", "0/", `[0-9a-f]{32}`, 3},
		{"airtable-token", "pat", `[A-Za-z0-9]{14}\.[0-9a-f]{64}`, 3},
		{"figma-token", "figd_", `[\w-]{40,}`, 3},
		{"typeform-token", "tfp_", `[A-Za-z0-9_.=-]{59}`, 3},
		{"postman-token", "PMAK-", hex + `{24}-` + hex + `{34}`, 3},
		{"readme-token", "rdme_", `[a-z0-9]{70}`, 2},
		{"frameio-token", "fio-u-", `[A-Za-z0-9_=-]{64}`, 2},
		{"contentful-token", "CFPAT-", `[\w-]{43}`, 3},
		// money
		{"stripe-key", "sk_live_", word + `{10,99}`, 2},
		{"stripe-key", "sk_test_", word + `{10,99}`, 2},
		{"stripe-key", "sk_prod_", word + `{10,99}`, 2},
		{"stripe-key", "rk_live_", word + `{10,99}`, 2},
		{"stripe-key", "rk_test_", word + `{10,99}`, 2},
		{"stripe-key", "rk_prod_", word + `{10,99}`, 2},
		{"stripe-secret", "whsec_", `[A-Za-z0-9+/]{24,}={0,2}`, 3},
		{"square-token", "sq0atp-", `[\w-]{22,60}`, 2},
		{"square-token", "sq0csp-", `[\w-]{43}`, 2},
		{"square-token", "EAAA", `[\w=-]{22,60}`, 3.5},
		{"facebook-token", "EAA", `(?:M|C)[A-Za-z0-9]{100,}`, 4},
		{"shopify-token", "shpat_", `[0-9a-fA-F]{32}`, 2},
		{"shopify-token", "shpca_", `[0-9a-fA-F]{32}`, 2},
		{"shopify-token", "shppa_", `[0-9a-fA-F]{32}`, 2},
		{"shopify-token", "shpss_", `[0-9a-fA-F]{32}`, 2},
		{"shippo-token", "shippo_live_", hex + `{40}`, 2},
		{"shippo-token", "shippo_test_", hex + `{40}`, 2},
		{"duffel-token", "duffel_live_", `[\w=-]{43}`, 2},
		{"duffel-token", "duffel_test_", `[\w=-]{43}`, 2},
		{"easypost-token", "EZAK", word + `{54}`, 2},
		{"easypost-token", "EZTK", word + `{54}`, 2},
		{"flutterwave-key", "FLWSECK", `(?i:(?:_TEST)?-[0-9a-h]{12,40}(?:-X)?)`, 2},
		{"flutterwave-key", "FLWPUBK", `(?i:(?:_TEST)?-[0-9a-h]{32}-X)`, 2},
		{"gocardless-token", "live_", `[\w=-]{35,40}`, 3.3},
		{"razorpay-key", "rzp_live_", word + `{14,}`, 2},
		{"plaid-token", "access-production-", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, 2},
		{"plaid-token", "access-sandbox-", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, 2},
		{"plaid-token", "access-development-", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, 2},
		// data and watching
		{"databricks-token", "dapi", hex + `{32}(?:-\d)?`, 3},
		{"planetscale-token", "pscale_tkn_", `[\w=.-]{32,64}`, 3},
		{"planetscale-token", "pscale_oauth_", `[\w=.-]{32,64}`, 3},
		{"planetscale-password", "pscale_pw_", `[\w=.-]{32,64}`, 3},
		{"clickhouse-key", "4b1d", word + `{38}`, 3},
		{"supabase-key", "sbp_", hex + `{40}`, 3},
		{"supabase-key", "sb_secret_", `[\w-]{20,}`, 3},
		{"grafana-token", "glsa_", word + `{32}_[0-9A-Fa-f]{8}`, 3},
		{"grafana-token", "glc_", `[A-Za-z0-9+/]{32,400}={0,3}`, 3},
		{"grafana-token", "eyJrIjoi", `[A-Za-z0-9+/]{70,400}={0,3}`, 3},
		{"newrelic-key", "NRAK-", `[A-Za-z0-9]{27}`, 2},
		{"newrelic-key", "NRII-", `[A-Za-z0-9-]{32}`, 2},
		{"newrelic-key", "NRJS-", `[0-9a-f]{19}`, 2},
		{"dynatrace-token", "dt0c01.", `[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}`, 3},
		{"sentry-token", "sntrys_", `[A-Za-z0-9+/=_]{60,}`, 3},
		{"sentry-token", "sntryu_", hex + `{64}`, 3},
		{"posthog-key", "phx_", word + `{40,}`, 3},
		{"adobe-secret", "p8e-", `[A-Za-z0-9]{32}`, 2},
		{"intra42-secret", "s-s4t2", `(?:ud|af)-[0-9a-f]{64}`, 3},
		{"settlemint-token", "sm_", `(?:aat|pat|sat)_[A-Za-z0-9]{16}`, 3},
		{"skein-token", "skein_", url64 + `{43}`, 3},
		// anybody's
		{"jwt", "eyJ", jwt, 3},
		{"jwt", "ZXlK", `[A-Za-z0-9/+]{60,}={0,2}`, 4},
	}
}
