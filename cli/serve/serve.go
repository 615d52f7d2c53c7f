package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/agent/sessionlog"
	"github.com/skein-dev/skein/cli/exchange"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server"
	"github.com/skein-dev/skein/server/acp/remote"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/mcp"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/server/web/share"
	"github.com/skein-dev/skein/store/accounts"
	"github.com/skein-dev/skein/store/activity"
)

type serveOptions struct {
	listen, cert, key, log, metrics, traces string
	public                                  string
	hosts                                   []string
	clear                                   bool
	chat, gateway, mcpWrite                 bool
	allow                                   []string
}

// NewServe returns the command serve.
func NewServe(f *job.Frame) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve [flags]",
		Short: "serve sessions to browsers and programs",
		Long: `Serve the store over HTTP until Ctrl-C: the dashboard for people, and the API
under /v1 for programs. Both need a token. The printed link leads to a button
that logs a browser in, once; skein open prints another link.

Only this machine can reach the server, unless you use --listen. Then the server
needs --tls-cert and --tls-key, or --clear-text if a proxy in front of it
encrypts; --public-url is the URL by which browsers see that proxy. Browsers can
use only the loopback host names, those in --host, and that of --public-url.`,
		Example: `skein serve
	skein serve --listen 127.0.0.1:8080
	skein serve --listen :443 --host skein.example \
	  --tls-cert cert.pem --tls-key key.pem`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.listen, "listen", usualAddress, "address `HOST:PORT` to listen on")
	c.Flags().StringSliceVar(&o.hosts, "host", nil, "host `NAME` that browsers may use for the server; can be repeated")
	c.Flags().StringVar(&o.public, "public-url", "", "`URL` by which browsers reach the server through a proxy: https://sessions.example")
	c.Flags().StringVar(&o.cert, "tls-cert", "", "`FILE` with the certificate, in PEM")
	c.Flags().StringVar(&o.key, "tls-key", "", "`FILE` with the certificate's key, in PEM")
	c.Flags().BoolVar(&o.clear, "clear-text", false, "allow connections from other machines without TLS")
	c.Flags().StringVar(&o.log, "log", "", "`FORMAT` of the log on stderr, one line per request: text or json; without this flag, there is no log")
	c.Flags().StringVar(&o.metrics, "metrics", "", "serve metrics for Prometheus: on serves them at /metrics, with a token; `HOST:PORT` serves them at that address, without one")
	c.Flags().StringVar(&o.traces, "traces", "", "send a trace of each request to the OpenTelemetry collector at `URL`, as OTLP over HTTP; OTEL_EXPORTER_OTLP_ENDPOINT does the same")
	c.Flags().BoolVar(&o.chat, "chat", false, "let people with an admin token talk to agents in the dashboard; tools run here, as you")
	c.Flags().StringArrayVar(&o.allow, "allow", nil, "with --chat or --gateway: allow this `TOOL` to run without asking, such as shell")
	c.Flags().BoolVar(&o.mcpWrite, "mcp-write", false, "let agents that use /mcp with a write token add notes, forks and titles; without this flag, they can only read")
	c.Flags().BoolVar(&o.gateway, "gateway", false, "also run what skein gateway runs")
	c.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return c
}

func (o *serveOptions) run(ctx context.Context, j *job.Job, _ []string) error {
	log, err := o.logger(j)
	if err != nil {
		return err
	}
	public, err := o.publicURL()
	if err != nil {
		return err
	}
	tokens, err := tokens(j)
	if err != nil {
		return err
	}
	trace, err := o.trace(ctx, j, log)
	if err != nil {
		return err
	}
	defer trace.close(ctx)
	l, err := o.open(ctx)
	if err != nil {
		return err
	}
	pages := webOptions(j, log)
	pages.Tokens = tokens
	pages.Purged = func(s skein.Session) error { return sessionlog.Remove(sessions.LogDir(j), s.User, s.ID) }
	if pages.Imports = importsOf(j, pages.Purged); pages.Imports != nil {
		defer pages.Imports.Close()
	}
	if backups := j.BackupLook(); backups != nil {
		pages.Examiners = append(pages.Examiners, backups)
	}
	if logs := sessions.Logs(j, j.Store); logs != nil {
		pages.Examiners = append(pages.Examiners, logs)
	}
	if o.chat {
		pages.Chat = chatOf(j, o.allow)
		defer pages.Chat.Close()
		defer context.AfterFunc(ctx, pages.Chat.Interrupt)()
	}
	serve, signed := (*door.Door).Serve, []door.Route(nil)
	if o.gateway {
		g, routes, err := openGateway(ctx, j, o.allow, log)
		if err != nil {
			return errors.Join(err, l.Close())
		}
		signed = routes
		serve = func(d *door.Door, ctx context.Context, l net.Listener) error {
			return beside(ctx, g, func(ctx context.Context) error { return d.Serve(ctx, l) })
		}
	}
	options := door.Options{Store: j.Store, Tokens: tokens, Hosts: o.hosts, Public: public, Log: log, Now: j.Now, Form: web.Form(pages), Page: web.Refused(pages)}
	trace.of(&options)
	counts, err := o.count(ctx, j, &options)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	agents := mcpOptions(j)
	agents.Write = o.mcpWrite
	d := door.New(options,
		slices.Concat(
			server.Routes(apiOptions(j)),
			web.Routes(pages),
			mcp.Routes(agents),
			remote.Routes(remote.Options{Version: j.Version, Live: liveSessions(j), Redact: redact.New(), Checkout: j.Here}),
			signed,
			counts.routes,
		)...)
	serve = counts.with(serve)
	if err := o.greet(j, d, l); err != nil {
		return errors.Join(err, l.Close())
	}
	forget, err := recordServer(ctx, j, o.url(l))
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer forget()
	return serve(d, ctx, l)
}

func (o *serveOptions) logger(j *job.Job) (*slog.Logger, error) {
	switch o.log {
	case "":
		return slog.New(slog.NewTextHandler(j.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), nil
	case "text":
		return slog.New(slog.NewTextHandler(j.Stderr, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(j.Stderr, nil)), nil
	}
	return nil, fault.Usage("--log %s: the formats are text and json", o.log)
}

func (o *serveOptions) open(ctx context.Context) (net.Listener, error) {
	var t *tls.Config
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, fault.Advise(fmt.Errorf("--tls-cert %s, --tls-key %s: %w", o.cert, o.key, err), "name a certificate and its key, as PEM files")
		}
		t = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	how := door.Clear("")
	if o.clear {
		how = door.ClearText
	}
	l, err := door.Listen(ctx, o.listen, t, how)
	if errors.Is(err, skein.ErrRefused) {
		err = fault.Advise(err, "give it a certificate: --tls-cert FILE --tls-key FILE\nor, if something in front of it encrypts: --clear-text")
	}
	return l, err
}

// greet prints the address of the server. It prints the link that logs in only to a
// terminal: the link must not end up in a log.
func (o *serveOptions) greet(j *job.Job, d *door.Door, l net.Listener) error {
	at := cmp.Or(strings.TrimSuffix(o.public, "/"), o.url(l))
	if _, err := fmt.Fprintf(j.Stdout, "%s\n", at); err != nil {
		return err
	}
	if !j.Terminal.Out {
		return nil
	}
	code, _ := d.Code()
	_, err := fmt.Fprintf(j.Stdout, "log in (works once, for 10 minutes):\n%s/login?code=%s\n", at, code)
	return err
}

// publicURL returns the URL by which browsers see the server; nil without a proxy.
func (o *serveOptions) publicURL() (*url.URL, error) {
	if o.public == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	u, err := siteOf("public-url", o.public)
	if err == nil && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil) {
		err = notSite("public-url", o.public)
	}
	return u, err
}

// siteOf returns the URL of a server that a flag gives.
func siteOf(flag, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, notSite(flag, text)
	}
	return u, nil
}

func notSite(flag, text string) error {
	return fault.Usage("--%s %q: want scheme and host, such as https://sessions.example", flag, text)
}

// url returns the server's URL with a host name that works on this machine.
func (o *serveOptions) url(l net.Listener) string {
	scheme := "http"
	if o.cert != "" {
		scheme = "https"
	}
	addr := l.Addr().(*net.TCPAddr)
	host := addr.IP.String()
	switch {
	case len(o.hosts) > 0:
		host = o.hosts[0]
	case addr.IP.IsUnspecified():
		host = "127.0.0.1"
	}
	if strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return scheme + "://" + host
	}
	return scheme + "://" + net.JoinHostPort(host, fmt.Sprint(addr.Port))
}

// tokens opens the token file. If it does not exist, tokens creates it with a first
// token. A store that has accounts keeps further tokens itself.
func tokens(j *job.Job) (*door.Tokens, error) {
	path := filepath.Join(j.Dirs.State, "tokens")
	if err := job.FitsOwner(os.Geteuid(), path); err != nil {
		return nil, err
	}
	t, err := door.OpenTokens(path, j.Now)
	if r, ok := skein.PartOf[accounts.Registry](j.Whole); ok && err == nil {
		t.In(r)
	}
	if trail, ok := skein.PartOf[accounts.AuditTrail](j.Whole); ok && err == nil {
		t.Audit(trail)
	}
	return t, err
}

// apiOptions returns the options of the API.
func apiOptions(j *job.Job) server.Options {
	return server.Options{
		Store: j.Store, Version: j.Version, Now: j.Now, Formats: exchange.All(), Redact: redact.New(), Probes: ofMachine(j), Files: isOwn(j), Budgets: budgets(j),
		Prices: sync.OnceValues(func() (*price.List, error) { return price.Load(j.Settings.Prices...) }),
		Purged: func(u skein.User, id skein.SessionID) error { return sessionlog.Remove(sessions.LogDir(j), u, id) },
		Ready: func(ctx context.Context) error {
			for _, err := range j.Store.Sessions(ctx, skein.Filter{Limit: 1}) {
				return err
			}
			return nil
		},
	}
}

// ofMachine returns where to look what sessions are doing: nowhere unless the store is one
// person's, on this machine.
func ofMachine(j *job.Job) activity.Probes {
	if !isOwn(j) {
		return activity.Probes{}
	}
	return sessions.Probes(j)
}

// isOwn reports whether the store is one person's, on this machine.
func isOwn(j *job.Job) bool { return j.Place.Scheme == "sqlite" }

// budgets returns what says how much of the budgets is used; nil unless the store is one
// person's, on this machine.
func budgets(j *job.Job) func(context.Context) ([]price.Spent, error) {
	if !isOwn(j) {
		return nil
	}
	return func(ctx context.Context) ([]price.Spent, error) { return sessions.Budgets(ctx, j, nil) }
}

// webOptions returns the options of the dashboard.
func webOptions(j *job.Job, log *slog.Logger) web.Options {
	var topics func(context.Context) ([]web.SettingTopic, error)
	if isOwn(j) {
		topics = func(ctx context.Context) ([]web.SettingTopic, error) { return settingTopics(ctx, j) }
	}
	secrets := redact.New()
	shares, _ := skein.PartOf[accounts.Shares](j.Whole)
	return web.Options{
		Shares:  share.Links{Shares: shares, Store: j.Whole, Secrets: secrets, Now: j.Now, Log: log},
		Budgets: budgets(j), Settings: topics, Probes: ofMachine(j), Live: liveSessions(j), Folders: j.Place.Scheme == "sqlite",
		Version: j.Version, Now: j.Now, Log: log, Agents: exchange.HandoffNames(), Secrets: secrets,
		Prices: sync.OnceValues(func() (*price.List, error) { return price.Load(j.Settings.Prices...) }),
	}
}
