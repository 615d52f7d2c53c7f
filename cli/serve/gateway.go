package serve

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/surface"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/redact"
	"github.com/skein-dev/skein/server/door"
	"github.com/skein-dev/skein/server/gateway"
	"github.com/skein-dev/skein/server/gateway/webhook"
)

type gatewayOptions struct {
	serveOptions
}

// NewGateway returns the command gateway.
func NewGateway(f *job.Frame) *cobra.Command {
	var o gatewayOptions
	c := &cobra.Command{
		Use:   "gateway [flags]",
		Short: "let people talk to agents from Telegram, Discord, Slack and e-mail",
		Long: `Answer messages from chat services and e-mail until Ctrl-C. Each chat, channel or
thread is a session; /new, /usage and /personality NAME work there too, and
skein link joins one to a session that you use in the terminal.

The gateway runs the services that are configured in your config.toml. It answers
only the people on a service's allow list. Use IDs, which are safer than names; if
somebody who is not on the list writes, the gateway prints their ID.

  [gateway]
  allow = ["shell"]               # tools that may run

  [gateway.telegram]              # token in TELEGRAM_BOT_TOKEN
  allow = ["4711", "@ada"]        # who may talk to the agent

  [gateway.discord]               # token in DISCORD_BOT_TOKEN
  allow = ["80351110224678912"]

  [gateway.slack]                 # tokens in SLACK_BOT_TOKEN
  allow = ["U024BE7LH"]           # and SLACK_APP_TOKEN

  [gateway.inbox.mail]            # signed requests: POST /v1/inbox/{key}
  secret_env = "MAIL_SECRET"      # the variable that the secret is in
  keys = ["email:*"]              # sessions that it may write to
  allow = ["ada@example.org"]     # who may write; without it, everybody
  url = "http://127.0.0.1:8025/"  # where answers go

Tokens and secrets come from the environment, or from the key ring (skein key
telegram, discord, slack, slack-app, inbox.mail). Tools run in this folder, as
you. Nobody can be asked for permission, so tools that ask run only if the
settings or --allow permit it.`,
		Example: `skein gateway
	skein serve --gateway`,
		Args: job.Words(0, 0, ""),
		RunE: f.WithStore(o.run),
	}
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:7434", "address `HOST:PORT` for signed requests, if a source of them is configured")
	c.Flags().StringSliceVar(&o.hosts, "host", nil, "host `NAME` that requests may use; can be repeated")
	c.Flags().StringVar(&o.cert, "tls-cert", "", "`FILE` with the certificate, in PEM")
	c.Flags().StringVar(&o.key, "tls-key", "", "`FILE` with the certificate's key, in PEM")
	c.Flags().BoolVar(&o.clear, "clear-text", false, "allow connections from other machines without TLS")
	c.Flags().StringVar(&o.log, "log", "", "`FORMAT` of the log on stderr, one line per request: text or json; without this flag, there is no log")
	c.Flags().StringArrayVar(&o.allow, "allow", nil, "allow this `TOOL` to run, such as shell")
	c.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return c
}

func (o *gatewayOptions) run(ctx context.Context, j *job.Job, _ []string) (err error) {
	log, err := o.logger(j)
	if err != nil {
		return err
	}
	g, routes, err := openGateway(ctx, j, o.allow, log)
	if err != nil {
		return err
	}
	if len(routes) == 0 {
		return g.Run(ctx)
	}
	tokens, err := tokens(j)
	if err != nil {
		return err
	}
	l, err := o.open(ctx)
	if err != nil {
		return err
	}
	d := door.New(door.Options{Store: j.Store, Tokens: tokens, Hosts: o.hosts, Log: log, Now: j.Now}, routes...)
	j.Say("signed requests: %s/v1/inbox/KEY", o.url(l))
	return beside(ctx, g, func(ctx context.Context) error { return d.Serve(ctx, l) })
}

// beside runs g while serve runs, and stops both when one fails or serve ends.
func beside(ctx context.Context, g *gateway.Gateway, serve func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ran := make(chan error, 1)
	go func() {
		defer stop()
		ran <- g.Run(ctx)
	}()
	err := serve(ctx)
	stop()
	return errors.Join(err, <-ran)
}

// openGateway returns the gateway as configured, and the routes for signed requests.
func openGateway(ctx context.Context, j *job.Job, allow []string, log *slog.Logger) (*gateway.Gateway, []door.Route, error) {
	surfaces, sources, err := surfaces(j, log)
	if err != nil {
		return nil, nil, err
	}
	if len(surfaces) == 0 {
		return nil, nil, fault.Advise(fault.Usage("the gateway is not set up: config.toml has no [gateway.telegram], and no other"), "see: skein gateway --help")
	}
	if err := thread.Answerable(ctx, j); err != nil {
		return nil, nil, err
	}
	may := map[string][]string{}
	for _, s := range surfaces {
		may[s.Name()] = j.Settings.Gateway.Writers(s.Name())
	}
	g, err := gateway.New(gateway.Options{
		Store: j.Store, User: j.Owner(), Talker: &messenger{job: j, allow: append(allow, j.Settings.Gateway.Allow...)},
		Surfaces: surfaces, Allow: may, Inbox: filepath.Join(j.Dirs.State, "inbox"),
		Secrets: redact.New(), Log: log, Now: time.Now, Wait: j.Wait,
	})
	if err != nil || len(sources) == 0 {
		return g, nil, err
	}
	return g, webhook.Routes(g, time.Now, sources...), nil
}

// surfaces returns the configured surfaces, and those of them that receive signed
// requests.
func surfaces(j *job.Job, log *slog.Logger) (all []gateway.Surface, sources []*webhook.Caller, err error) {
	for _, name := range slices.Sorted(maps.Keys(j.Settings.Gateway.Named())) {
		s, err := surface.Open(j, name, log)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, s)
	}
	for _, name := range slices.Sorted(maps.Keys(j.Settings.Gateway.Inbox)) {
		o := j.Settings.Gateway.Inbox[name]
		if o.SecretEnv == "" {
			return nil, nil, fault.Usage("gateway.inbox.%s: want secret_env, the name of the variable that holds the secret", name)
		}
		secret, err := surface.Secret(j, "inbox."+name, o.SecretEnv)
		if err != nil {
			return nil, nil, err
		}
		s := &webhook.Caller{Title: name, Secret: []byte(secret), Keys: o.Keys, URL: o.URL}
		if err := s.Check(); err != nil {
			return nil, nil, fault.Advise(fault.Usage("gateway.inbox.%s: %v", name, err), "see: skein gateway --help")
		}
		all, sources = append(all, s), append(sources, s)
	}
	return all, sources, nil
}
