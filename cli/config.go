package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/cli/sessions"
	"github.com/skein-dev/skein/cli/terminal"
	"github.com/skein-dev/skein/cli/thread"
	"github.com/skein-dev/skein/render"
)

// completeSessionFlags completes those flags of c that filter sessions.
func completeSessionFlags(f *job.Frame, c *cobra.Command) {
	if c.Flags().Lookup("take-over") != nil { // there these flags choose who answers
		thread.CompleteFlags(f, c)
		return
	}
	for flag, of := range map[string]func(*skein.Session) []string{
		"agent":   func(s *skein.Session) []string { return []string{s.Agent} },
		"model":   func(s *skein.Session) []string { return []string{s.Model} },
		"profile": func(s *skein.Session) []string { return []string{s.Profile} },
		"tag":     func(s *skein.Session) []string { return s.Tags },
		"origin": func(s *skein.Session) []string {
			if s.Origin == nil {
				return nil
			}
			return []string{s.Origin.Format}
		},
	} {
		if c.Flags().Lookup(flag) != nil {
			sessions.CompleteFlag(f, c, flag, sessions.SeenIn(f, of))
		}
	}
}

type configOptions struct{ json bool }

func newConfig(f *job.Frame) *cobra.Command {
	var o configOptions
	c := &cobra.Command{
		Use:   "config [SETTING] [flags]",
		Short: "show the settings, their sources, and skein's folders",
		Long: `Show each setting and the source of its value. Flags take precedence over the
environment, the environment over .skein/config.toml in the project, and that
over your own config.toml. With the name of a SETTING, print only its value.

  store          where sessions are stored: a path, sqlite:PATH, a database
                 postgres://HOST/NAME, or a server: https://HOST:PORT
  user           in a database of many users, whose sessions to use; without
                 it, everybody's, and new ones belong to "local" (*)
  remote         the server or database of skein push and skein pull (*)
  token_file     file whose first line is the token for a server, if
                 SKEIN_TOKEN is not set (*)
  color          colors: auto, always or never
  pager          program that shows long output (*)
  model          default model: "anthropic:MODEL"
  agent          default agent of new sessions: a name, or a file
  effort         how much a model thinks: low, medium or high
  compact_after  number of items after which older items are summarized for
                 the model (40); 0 for never
  titles         who titles a session: model, after its second turn, or off
  memory         read AGENTS.md and similar files: on or off (*)
  log            write log files of conversations: on or off (*)
  backups        number of daily backups to keep (3); 0 for none (*)
  allow          tools that run without asking: ["shell"] (*)

  [project."/home/ada/api"]       # (*)
  allow = ["shell"]               # in this project

  [provider.work]                 # (*) then --model work:MODEL
  base_url = "http://gpu.example:8000/v1"
  key_env = "WORK_KEY"            # the variable that holds the key
  api = "chat"                    # or responses, anthropic, google

  [gateway.telegram]              # (*) see: skein gateway --help
  allow = ["4711"]                # who may talk to agents from there

  [[budget]]                      # (*) you are told at 80 and 100 %
  per = "day"                     # or week, month
  usd = 20.0                      # or tokens = 5_000_000
  project = "~/api"               # if only of this project
  agent = "codex"                 # if only of this agent

  [notify]                        # (*) from skein setup's service
  about = ["waiting", "failed"]   # also done, budget; all if not given
  done_after = 5                  # minutes that a turn must have taken
  desktop = true
  ntfy = "https://ntfy.sh/TOPIC"  # the token in NTFY_TOKEN
  webhook = "https://example.org/hook"
  telegram = "4711"               # ID of a chat; also discord, slack
  email = "ada@example.org"
  smtp = "smtps://ada@mail.example.org" # SMTP_PASSWORD

  [[price]]                       # (*) dollars per million tokens
  model = "my-model*"
  input = 0.5
  output = 2.0

(*) A project's file cannot set this, because a project can come from a stranger.`,
		Args: func(c *cobra.Command, args []string) error {
			if n := len(args); n > 1 {
				return fault.Advise(fault.Usage("skein config only shows settings"), "to set one, write it into config.toml, in the config folder that skein config shows: %s = %q", args[n-2], args[n-1])
			}
			return nil
		},
		RunE: f.Plain(o.run),
	}
	job.JSONFlag(c, &o.json)
	sessions.CompleteArg(f, c, func(context.Context, string) []string {
		var names []string
		for _, k := range config.Known() {
			names = append(names, k.Name+"\t"+k.Doc)
		}
		return names
	})
	return c
}

// A configLine is the settings in JSON.
type configLine struct {
	Settings map[string]config.SettingValue `json:"settings"`
	Folders  map[string]string              `json:"folders"`
	Ignored  []string                       `json:"ignored"` // what has no effect in the files
}

func (o *configOptions) run(ctx context.Context, j *job.Job, args []string) error {
	if len(args) == 1 {
		v, ok := j.Settings.Values[args[0]]
		switch {
		case !ok:
			return fault.Advise(fault.Missing("no setting %q", args[0]), "see all of them: skein config")
		case o.json:
			return job.WriteJSON(j.Stdout, v)
		}
		_, err := fmt.Fprintln(j.Stdout, v.Text)
		return err
	}
	d := j.Dirs
	if o.json {
		folders := map[string]string{"data": d.Data, "state": d.State, "cache": d.Cache, "config": d.Config}
		return job.WriteJSON(j.Stdout, configLine{j.Settings.Values, folders, append([]string{}, j.Settings.Unknown...)})
	}
	t := terminal.Table{Columns: []terminal.Column{{Title: "SETTING", Paint: j.Paint.Cyan}, {Title: "VALUE"}, {Title: "FROM", Paint: j.Paint.Dim}}}
	var rows []string // the settings in order, then the tables
	for _, k := range config.Known() {
		rows = append(rows, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(j.Settings.Values)) {
		if !slices.Contains(rows, name) {
			rows = append(rows, name)
		}
	}
	for _, name := range rows {
		v := j.Settings.Values[name]
		t.Rows = append(t.Rows, []string{render.Line(name), render.Line(j.Tilde(v.Text)), j.Tilde(v.From)})
	}
	folders := terminal.Table{Columns: []terminal.Column{{Title: "FOLDER", Paint: j.Paint.Cyan}, {Title: "PATH"}}, Rows: [][]string{
		{"data", j.Tilde(d.Data)}, {"state", j.Tilde(d.State)}, {"cache", j.Tilde(d.Cache)}, {"config", j.Tilde(d.Config)},
	}}
	if err := t.Write(j.Stdout, t.Natural(), j.Paint.Bold); err != nil {
		return err
	}
	if _, err := io.WriteString(j.Stdout, "\n"); err != nil {
		return err
	}
	if err := folders.Write(j.Stdout, folders.Natural(), j.Paint.Bold); err != nil {
		return err
	}
	for _, u := range j.Settings.Unknown {
		j.Say("ignored: %s", j.Tilde(u))
	}
	return nil
}
