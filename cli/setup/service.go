package setup

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// A userService is how the system keeps a user's program running.
type userService struct {
	fileEdit
	start, stop, look [][]string // commands, of which each must succeed
}

// errNoService means that the system starts no programs for a person by itself.
var errNoService = errors.New("this system has no service manager for users")

// watcher returns the service that keeps what the agents write. The error is
// errNoService if there is none; run runs a command and returns what it prints.
func watcher(ctx context.Context, m computer, run func(ctx context.Context, name string, args ...string) (string, error)) (*userService, error) {
	cmd := m.watch()
	switch m.OS {
	case "linux":
		if _, err := run(ctx, "systemctl", "--user", "show-environment"); err != nil {
			return nil, errNoService
		}
		return &userService{
			fileEdit{What: "service", Path: filepath.Join(m.Config, "systemd", "user", "skein.service"), Text: unit(cmd)},
			[][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", "--now", "skein.service"}},
			[][]string{{"systemctl", "--user", "disable", "--now", "skein.service"}},
			[][]string{{"systemctl", "--user", "is-active", "--quiet", "skein.service"}},
		}, nil
	case "darwin":
		path := filepath.Join(m.Home, "Library", "LaunchAgents", "dev.skein.watch.plist")
		return &userService{
			fileEdit{What: "service", Path: path, Text: plist(cmd)},
			[][]string{{"launchctl", "load", "-w", path}},
			[][]string{{"launchctl", "unload", "-w", path}},
			[][]string{{"launchctl", "list", "dev.skein.watch"}},
		}, nil
	case "windows":
		return &userService{
			fileEdit{What: "service"},
			[][]string{{"schtasks", "/Create", "/F", "/TN", "skein", "/SC", "ONLOGON", "/RL", "LIMITED", "/TR", quoted(cmd)}, {"schtasks", "/Run", "/TN", "skein"}},
			[][]string{{"schtasks", "/End", "/TN", "skein"}, {"schtasks", "/Delete", "/F", "/TN", "skein"}},
			[][]string{{"schtasks", "/Query", "/TN", "skein"}},
		}, nil
	}
	return nil, errNoService
}

// unit returns the unit for systemd. The watcher gives way to everything else.
func unit(cmd []string) string {
	return `[Unit]
Description=Keep the sessions of AI agents (skein)

[Service]
ExecStart=` + systemdWords(cmd) + `
Restart=always
RestartSec=5
Nice=19
IOSchedulingClass=idle
CPUQuota=50%

[Install]
WantedBy=default.target
`
}

// systemdWords quotes the words of a command as systemd reads them.
func systemdWords(cmd []string) string {
	out := make([]string, len(cmd))
	for i, w := range cmd {
		w = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(w)
		out[i] = `"` + w + `"`
	}
	return strings.Join(out, " ")
}

// plist returns the agent for launchd.
func plist(cmd []string) string {
	var args strings.Builder
	for _, w := range cmd {
		fmt.Fprintf(&args, "\t\t<string>%s</string>\n", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(w))
	}
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>dev.skein.watch</string>
	<key>ProgramArguments</key>
	<array>
` + args.String() + `	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<true/>
	<key>ProcessType</key>
	<string>Background</string>
	<key>LowPriorityIO</key>
	<true/>
	<key>Nice</key>
	<integer>19</integer>
</dict>
</plist>
`
}

// quoted returns the words of a command as Windows reads them.
func quoted(cmd []string) string {
	out := make([]string, len(cmd))
	for i, w := range cmd {
		out[i] = `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
	}
	return strings.Join(out, " ")
}

// execute runs a command and returns what it prints; the error says that, too.
func execute(ctx context.Context, name string, args ...string) (string, error) {
	b, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	out := strings.TrimSpace(string(b))
	if err != nil && out != "" {
		err = fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return out, err
}
