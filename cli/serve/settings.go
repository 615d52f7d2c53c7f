package serve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
	"github.com/skein-dev/skein/render"
	"github.com/skein-dev/skein/server/web"
	"github.com/skein-dev/skein/store/inspect"
)

// settingTopics returns what the person who runs the server has set, for the dashboard.
//
// The error is that of looking up the backups.
func settingTopics(ctx context.Context, j *job.Job) ([]web.SettingTopic, error) {
	backups := web.SettingTopic{Title: "Backups", Rows: settingRows(j, namedSetting{"backups", "Daily backups kept"}), Change: "backups in config.toml. The page Health checks them."}
	newest, err := newestBackup(ctx, j)
	if err != nil {
		return nil, err
	}
	backups.Rows = append(backups.Rows, web.SettingRow{Name: "Newest backup", Value: newest})
	return []web.SettingTopic{
		{Title: "Notices", Says: "What you are told while you look elsewhere.", Rows: noticeRows(j), Change: "the table [notify] of config.toml."},
		{Title: "Prices", Says: "Costs come from the built-in list of prices, except where you set your own.", Rows: priceRows(j), Change: "the table [[price]] of config.toml."},
		backups,
		{
			Title: "What is captured", Says: "skein stores the sessions of its own agent as they happen, and those of other agents when they are imported: see the page Import.",
			Rows:   append(settingRows(j, namedSetting{"store", "Store"}, namedSetting{"log", "Log files of conversations"}, namedSetting{"memory", "AGENTS.md, USER.md and similar files"}, namedSetting{"titles", "Titles by"}), web.SettingRow{Name: "Secrets", Value: "masked on these pages; skein scrub removes them from the store"}),
			Change: "config.toml. skein setup keeps imports running.",
		},
		{Title: "Answers and permissions", Rows: append(settingRows(j, namedSetting{"model", "Default model"}, namedSetting{"agent", "Default agent"}, namedSetting{"effort", "Effort"}, namedSetting{"allow", "Tools that run without asking"}), allowedRows(j)...), Change: "config.toml. The button Always allow of a chat adds to it."},
	}, nil
}

// A namedSetting is a setting, and what the page calls it.
type namedSetting struct{ name, title string }

// settingRows returns the values of settings, and where they were set.
func settingRows(j *job.Job, all ...namedSetting) (rows []web.SettingRow) {
	for _, one := range all {
		v := j.Settings.Values[one.name]
		row := web.SettingRow{Name: one.title, Value: cmp.Or(v.Text, "not set")}
		if v.From != "default" {
			row.From = j.Tilde(v.From)
		}
		if one.name == "store" {
			row.Value = j.Tilde(j.Place.String()) // without a password
		}
		rows = append(rows, row)
	}
	return rows
}

// allowedRows returns the tools that need not ask, by project.
func allowedRows(j *job.Job) (rows []web.SettingRow) {
	for _, project := range slices.Sorted(maps.Keys(j.Settings.Projects)) {
		if tools := j.Settings.Projects[project].Allow; len(tools) > 0 {
			rows = append(rows, web.SettingRow{Name: "In " + j.Tilde(project), Value: strings.Join(tools, ", ")})
		}
	}
	return rows
}

// noticeRows returns how notices are sent. Addresses may be secrets.
func noticeRows(j *job.Job) (rows []web.SettingRow) {
	for _, one := range []namedSetting{{"desktop", "On the desktop"}, {"webhook", "Webhook"}, {"ntfy", "ntfy"}, {"telegram", "Telegram"}, {"discord", "Discord"}, {"slack", "Slack"}, {"email", "E-mail"}} {
		row := web.SettingRow{Name: one.title, Value: "off"}
		if v, set := j.Settings.Values["notify."+one.name]; set {
			row.Value, row.From = "on", j.Tilde(v.From)
		}
		rows = append(rows, row)
	}
	return rows
}

// priceRows returns the person's own prices.
func priceRows(j *job.Job) (rows []web.SettingRow) {
	for _, p := range j.Settings.Prices {
		name := p.Model
		if p.Provider != "" {
			name = p.Provider + ":" + name
		}
		rows = append(rows, web.SettingRow{Name: name, Value: fmt.Sprintf("$%g in, $%g out for a million tokens", p.Input, p.Output)})
	}
	return rows
}

// newestBackup says when the newest backup was made.
func newestBackup(ctx context.Context, j *job.Job) (string, error) {
	k, ok := skein.PartOf[inspect.Backups](j.Whole)
	if !ok {
		return "the database makes its own", nil
	}
	all, err := k.Copies(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range all { // the newest is first
		if !c.Gone && (c.Kind == inspect.BackupCopy || c.Kind == inspect.RollingCopy) {
			return fmt.Sprintf("%s, %s, %s", c.Made.Std().In(j.Now().Location()).Format(time.DateTime), render.Bytes(c.Size), j.Tilde(c.Path)), nil
		}
	}
	return "none yet", nil
}
