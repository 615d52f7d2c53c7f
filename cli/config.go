package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein/render"
)

type configOptions struct{ json bool }

func newConfig(f *frame) *cobra.Command {
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

  [[price]]                       # (*) dollars per million tokens
  model = "my-model*"
  input = 0.5
  output = 2.0

(*) A project's file cannot set this, because a project can come from a stranger.`,
		Args: func(c *cobra.Command, args []string) error {
			if n := len(args); n > 1 {
				return advise(usagef("skein config only shows settings"), "to set one, write it into config.toml, in the config folder that skein config shows: %s = %q", args[n-2], args[n-1])
			}
			return nil
		},
		RunE: f.plain(o.run),
	}
	jsonFlag(c, &o.json)
	f.completeArg(c, func(context.Context, string) []string {
		var names []string
		for _, k := range known() {
			names = append(names, k.name+"\t"+k.doc)
		}
		return names
	})
	return c
}

// A configLine is the settings in JSON.
type configLine struct {
	Settings map[string]value  `json:"settings"`
	Folders  map[string]string `json:"folders"`
	Ignored  []string          `json:"ignored"` // what has no effect in the files
}

func (o *configOptions) run(ctx context.Context, j *job, args []string) error {
	if len(args) == 1 {
		v, ok := j.settings.values[args[0]]
		switch {
		case !ok:
			return advise(missing("no setting %q", args[0]), "see all of them: skein config")
		case o.json:
			return writeJSON(j.Stdout, v)
		}
		_, err := fmt.Fprintln(j.Stdout, v.Text)
		return err
	}
	d := j.dirs
	if o.json {
		folders := map[string]string{"data": d.Data, "state": d.State, "cache": d.Cache, "config": d.Config}
		return writeJSON(j.Stdout, configLine{j.settings.values, folders, append([]string{}, j.settings.unknown...)})
	}
	t := table{columns: []column{{title: "SETTING", paint: j.paint.Cyan}, {title: "VALUE"}, {title: "FROM", paint: j.paint.Dim}}}
	var rows []string // the settings in order, then the tables
	for _, k := range known() {
		rows = append(rows, k.name)
	}
	for _, name := range slices.Sorted(maps.Keys(j.settings.values)) {
		if !slices.Contains(rows, name) {
			rows = append(rows, name)
		}
	}
	for _, name := range rows {
		v := j.settings.values[name]
		t.rows = append(t.rows, []string{render.Line(name), render.Line(j.tilde(v.Text)), j.tilde(v.From)})
	}
	folders := table{columns: []column{{title: "FOLDER", paint: j.paint.Cyan}, {title: "PATH"}}, rows: [][]string{
		{"data", j.tilde(d.Data)}, {"state", j.tilde(d.State)}, {"cache", j.tilde(d.Cache)}, {"config", j.tilde(d.Config)},
	}}
	if err := t.write(j.Stdout, t.natural(), j.paint.Bold); err != nil {
		return err
	}
	if _, err := io.WriteString(j.Stdout, "\n"); err != nil {
		return err
	}
	if err := folders.write(j.Stdout, folders.natural(), j.paint.Bold); err != nil {
		return err
	}
	for _, u := range j.settings.unknown {
		j.say("ignored: %s", j.tilde(u))
	}
	return nil
}
