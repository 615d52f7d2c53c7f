package notice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/surface"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/gateway/webhook"
)

// sendTime is how long a notice may take.
const sendTime = 10 * time.Second

// Channels returns those that the settings name.
func Channels(j *job.Job) (all []Channel) {
	o := &j.Settings.Notify
	if o.Desktop {
		all = append(all, Channel{"desktop", func(ctx context.Context, n Notice) error { return desktop(ctx, j.OS, n) }})
	}
	if o.Webhook != "" {
		all = append(all, Channel{"webhook", func(ctx context.Context, n Notice) error { return byWebhook(ctx, j, n) }})
	}
	if o.Ntfy != "" {
		all = append(all, Channel{"ntfy", func(ctx context.Context, n Notice) error { return byNtfy(ctx, j, n) }})
	}
	for _, chat := range []struct{ service, id string }{{"telegram", o.Telegram}, {"discord", o.Discord}, {"slack", o.Slack}} {
		if chat.id != "" {
			all = append(all, Channel{chat.service, func(ctx context.Context, n Notice) error { return byChat(ctx, j, chat.service, chat.id, n) }})
		}
	}
	if o.Email != "" {
		all = append(all, Channel{"e-mail", func(ctx context.Context, n Notice) error { return byMail(ctx, j, n) }})
	}
	return all
}

// byChat sends n into a chat of a service, as the gateway's bot.
func byChat(ctx context.Context, j *job.Job, service, chat string, n Notice) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	to, err := surface.Address(service, chat)
	if err != nil {
		return err
	}
	s, err := surface.Open(j, service, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return s.Send(ctx, to, strings.TrimSpace(render.Line(n.Title)+"\n"+n.Text))
}

// mailServer returns how a mail server is reached: encrypted, but on this machine.
func mailServer(at *url.URL) (how []mail.Option, auth mail.SMTPAuthType) {
	auth, port := mail.SMTPAuthAutoDiscover, 587
	switch host, err := netip.ParseAddr(at.Hostname()); {
	case at.Scheme == "smtps":
		how, port = append(how, mail.WithSSL()), 465
	case at.Hostname() == "localhost", err == nil && host.IsLoopback():
		how, auth, port = append(how, mail.WithTLSPolicy(mail.TLSOpportunistic)), mail.SMTPAuthPlainNoEnc, 25
	default:
		how = append(how, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if n, err := strconv.Atoi(at.Port()); err == nil {
		port = n
	}
	return append(how, mail.WithPort(port)), auth
}

// byMail sends n as e-mail.
func byMail(ctx context.Context, j *job.Job, n Notice) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	at, err := url.Parse(j.Settings.Notify.SMTP)
	if err != nil {
		return err
	}
	m := mail.NewMsg()
	from, user := j.Settings.Notify.Email, at.User.Username()
	if strings.Contains(user, "@") {
		from = user
	}
	if err := errors.Join(m.From(from), m.To(j.Settings.Notify.Email)); err != nil {
		return err
	}
	m.Subject(render.Line(n.Title))
	m.SetDateWithValue(j.Now())
	m.SetMessageID()
	m.SetBodyString(mail.TypeTextPlain, n.Text)
	how, auth := mailServer(at)
	how = append(how, mail.WithTimeout(sendTime))
	if user != "" {
		password, err := surface.Secret(j, "smtp", "SMTP_PASSWORD")
		if err != nil {
			return err
		}
		how = append(how, mail.WithSMTPAuth(auth), mail.WithUsername(user), mail.WithPassword(password))
	}
	c, err := mail.NewClient(at.Hostname(), how...)
	if err != nil {
		return err
	}
	return c.DialAndSendWithContext(ctx, m)
}

// desktop shows n with the desktop's own program: notify-send of libnotify, or macOS's
// osascript, which reads the texts as arguments, so that they are no program.
func desktop(ctx context.Context, system string, n Notice) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	title, text := render.Line(n.Title), render.Line(n.Text)
	cmd := exec.CommandContext(ctx, "notify-send", "--app-name=skein", "--", title, text)
	switch system {
	case "darwin":
		cmd = exec.CommandContext(ctx, "osascript", "-e", "on run a", "-e", "display notification (item 2 of a) with title (item 1 of a)", "-e", "end run", "--", title, text)
	case "windows":
		return errors.New("desktop notices are not possible on Windows; use ntfy or a webhook")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd.Args[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// byWebhook posts n as JSON, signed if there is a secret.
func byWebhook(ctx context.Context, j *job.Job, n Notice) error {
	body, err := json.Marshal(n)
	if err != nil {
		return err
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if name := j.Settings.Notify.SecretEnv; name != "" {
		secret := j.Getenv(name)
		if secret == "" {
			return fmt.Errorf("%s, which holds the secret, is not set", name)
		}
		webhook.Sign(h, "notice", []byte(secret), body, j.Now())
	}
	return post(ctx, j.Settings.Notify.Webhook, h, body)
}

// byNtfy publishes n: https://docs.ntfy.sh/publish/ (checked 2026-11-23).
func byNtfy(ctx context.Context, j *job.Job, n Notice) error {
	base, topic, ok := cutLast(j.Settings.Notify.Ntfy)
	if !ok {
		return errors.New("the address has no topic")
	}
	priority := 3
	if n.About == "waiting" || n.About == "failed" {
		priority = 4
	}
	body, err := json.Marshal(map[string]any{"topic": topic, "title": render.Line(n.Title), "message": n.Text, "priority": priority, "tags": []string{n.About}})
	if err != nil {
		return err
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if token := j.Getenv("NTFY_TOKEN"); token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	return post(ctx, base, h, body)
}

// cutLast cuts an address before the last piece of its path.
func cutLast(address string) (base, last string, ok bool) {
	i := strings.LastIndexByte(address, '/')
	if i < 0 || strings.HasSuffix(address[:i], "/") {
		return "", "", false
	}
	return address[:i+1], address[i+1:], address[i+1:] != ""
}

func post(ctx context.Context, to string, h http.Header, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address is not valid")
	}
	req.Header = h
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err // the address may be a secret
	}
	if err != nil {
		return err
	}
	if err := resp.Body.Close(); err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	return nil
}
