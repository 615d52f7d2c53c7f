package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/store/accounts"
)

func TestTheThemeIsTheBrowsers(t *testing.T) {
	v := visiting(t, composed(t), nil)
	lacks(t, "the page", v.get("/usage"), "data-theme", "data-density")
	v.send("/settings/looks", url.Values{"theme": {"dark"}, "density": {"compact"}})
	wants(t, "a page", v.get("/usage"), `data-theme="dark"`, `data-density="compact"`, `<meta name="color-scheme" content="dark">`)
	wants(t, "the page of an error", missing(v), `data-theme="dark"`)
	wants(t, "the settings", v.get("/settings"), `value="dark" selected`, `value="compact" selected`)
	v.send("/settings/looks", url.Values{"theme": {`"><script>`}})
	lacks(t, "a page", v.get("/usage"), "data-theme", "data-density")
}

func missing(v *visit) string {
	_, page := v.ask(http.MethodGet, "/sessions/none", nil)
	return page
}

func TestTokensAreMadeAndRemoved(t *testing.T) {
	v := visiting(t, composed(t), nil)
	page := v.send("/settings/tokens", url.Values{"name": {"ci <1>"}, "scope": {"write"}, "days": {"30"}, "user": {"ann"}, "raw": {"1"}})
	wants(t, "the page", page, "cannot be shown again", "ci &lt;1&gt;", "write read:raw", "2026-12-", "<td>ann</td>", `<span class="dim">not yet</span>`)
	token := regexp.MustCompile(`id="made">([^<]+)<`).FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("the page does not show the token:\n%s", page)
	}
	lacks(t, "the next page", v.get("/settings"), token[1])
	program := *v
	program.as(token[1])
	lacks(t, "the page of the new token", program.get("/settings"), "Make a token", "cannot be shown")
	lacks(t, "the page after its use", v.get("/settings"), `<span class="dim">not yet</span>`)
	for form, want := range map[string]string{
		"name=ci+<1>&scope=read":       "exists",
		"name=&scope=read":             "want a name",
		"name=x&scope=god":             "want a name, and the scope",
		"name=x&scope=read&days=soon":  "days &#34;soon&#34;",
		"name=x&scope=read&days=99999": "days",
	} {
		values, err := url.ParseQuery(form)
		if err != nil {
			t.Fatal(err)
		}
		page := v.send("/settings/tokens", values)
		wants(t, "the page after "+form, page, `role="alert"`, want)
		lacks(t, "the page after "+form, page, "cannot be shown again")
	}
	v.send("/settings/tokens/remove", url.Values{"name": {"ci <1>"}})
	if status, _ := program.ask(http.MethodGet, "/settings", nil); status != http.StatusUnauthorized {
		t.Errorf("a removed token: %d, want 401", status)
	}
	wants(t, "the page", v.send("/settings/tokens/remove", url.Values{"name": {door.First}}), `role="alert"`, "skein token rm first")
}

// Only who manages the server sees and changes what concerns others.
func TestSettingsOfTheServerAreForWhoManagesIt(t *testing.T) {
	for _, a := range []door.Token{tokenOf("ann", "write"), tokenOf("ann", "admin"), tokenOf("", "write")} {
		v := visiting(t, composed(t), func(o *web.Options) {
			o.Settings = func(context.Context) ([]web.SettingTopic, error) {
				return []web.SettingTopic{{Title: "What is captured"}}, nil
			}
		})
		wants(t, "the page of the first token", v.get("/settings"), "Appearance", "Devices", "What is captured", `id="tokens"`)
		token, err := v.tokens.Add(a)
		if err != nil {
			t.Fatal(err)
		}
		v.as(token)
		page := v.get("/settings")
		wants(t, "the page", page, "Appearance", "Devices")
		lacks(t, "the page of "+a.Name, page, "What is captured", `id="tokens"`, "Budgets")
		v.ask(http.MethodPost, "/settings/tokens", url.Values{"name": {"mine"}, "scope": {"admin"}})
		v.ask(http.MethodPost, "/settings/tokens/remove", url.Values{"name": {a.Name}})
		v.ask(http.MethodPost, "/settings/users", url.Values{"user": {"ann"}})
		all, err := v.tokens.All()
		if err != nil || len(all) != 2 || all[1].Name != a.Name {
			t.Errorf("after %s tried to change them the tokens are %+v, %v", a.Name, all, err)
		}
	}
}

// A team is a registry of accounts and no tokens.
type team struct {
	accounts.Registry
	users []accounts.Account
}

// Users implements [accounts.Registry].
func (r *team) Users(context.Context) ([]accounts.Account, error) { return r.users, nil }

// Accesses implements [accounts.Registry].
func (r *team) Accesses(context.Context) ([]accounts.Access, error) { return nil, nil }

// Logins implements [accounts.Registry].
func (r *team) Logins(context.Context) ([]accounts.Login, error) { return nil, nil }

// AddUser implements [accounts.Registry].
func (r *team) AddUser(_ context.Context, a accounts.Account) error {
	if a.User == "" {
		return skein.ErrInvalid
	}
	r.users = append(r.users, a)
	return nil
}

// SetUser implements [accounts.Registry].
func (r *team) SetUser(_ context.Context, a accounts.Account) error {
	for i := range r.users {
		if r.users[i].User == a.User {
			r.users[i] = a
			return nil
		}
	}
	return skein.ErrNotFound
}

func TestQuotasOfATeamAreSet(t *testing.T) {
	r := &team{}
	v := visiting(t, composed(t), func(o *web.Options) { o.Tokens.In(r) })
	wants(t, "the page", v.get("/settings"), "Users and quotas", "no accounts yet")
	wants(t, "the page", v.send("/settings/users", url.Values{"new": {"1"}, "user": {"ann"}, "sessions": {"100"}, "megabytes": {"2000"}}), "0 of 100", "of 2.0 GB", `value="2000"`)
	v.send("/settings/users", url.Values{"user": {"ann"}, "sessions": {""}, "megabytes": {"5"}})
	if got := r.users[0]; got.MaxSessions != 0 || got.MaxBytes != 5_000_000 {
		t.Errorf("the limits are %d sessions and %d bytes, want none and 5,000,000", got.MaxSessions, got.MaxBytes)
	}
	for _, form := range []url.Values{{"user": {"ann"}, "sessions": {"-1"}}, {"user": {"bob"}}, {"new": {"1"}}} {
		if page := v.send("/settings/users", form); !strings.Contains(page, `role="alert"`) {
			t.Errorf("after %v there is no error", form)
		}
	}
}

// teamed gives a server everything that its settings can show.
func teamed(o *web.Options) {
	o.Tokens.In(&team{users: []accounts.Account{{User: "ann", Sessions: 12, Bytes: 4_200_000, MaxSessions: 100}, {User: "bartholomew.of.the.longest.name@example.org", Bytes: 12, MaxBytes: 1e9}}})
	o.Budgets = func(context.Context) ([]price.Spent, error) {
		return []price.Spent{{SpendingBudget: price.SpendingBudget{Per: price.PerMonth, USD: 200}, Percent: 84}}, nil
	}
	o.Settings = func(context.Context) ([]web.SettingTopic, error) {
		return []web.SettingTopic{
			{Title: "Notices", Rows: []web.SettingRow{{Name: "On the desktop", Value: "on", From: "~/.config/skein/config.toml"}}, Change: "config.toml."},
			{Title: "Backups", Rows: []web.SettingRow{{Name: "Newest backup", Value: "/home/ada/.local/share/skein/backups/skein-2026-11-20T10-00-00Z.db"}}},
		}, nil
	}
}

func TestTheSettingsFitEveryScreen(t *testing.T) {
	v := visiting(t, composed(t), teamed)
	b := v.browse()
	for _, how := range looks() {
		b.size(how.width, how.scheme)
		b.open("/settings")
		b.until(`document.querySelectorAll("details").forEach((d) => { d.open = true }), true`)
		if over := b.eval(`document.documentElement.scrollWidth - innerWidth`).(float64); over > 0 {
			t.Errorf("/settings at %d px is %v px too wide", how.width, over)
		}
		b.shot(fmt.Sprintf("settings-%d-%s", how.width, how.scheme))
	}
	b.eval(`document.querySelector("[name=theme]").value = "dark"; document.querySelector("form[action='/settings/looks']").requestSubmit(); true`)
	b.size(1024, "light")
	b.until(`document.documentElement.dataset.theme == "dark" && getComputedStyle(document.body).backgroundColor == "rgb(20, 22, 26)"`)
}
