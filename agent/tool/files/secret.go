package files

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein/agent/tool"
)

// secret reports whether the file is known to hold secrets: by its place in the
// user's home, or by its name anywhere.
func (p place) secret() bool {
	for _, path := range []string{p.path, p.real} {
		if secretName(path) || p.home != "" && below(p.home, path) && secretHome(p.home, path) {
			return true
		}
	}
	return false
}

// secretHome reports whether path, in home, is one in which programs keep keys.
func secretHome(home, path string) bool {
	rel, err := filepath.Rel(home, path)
	if err != nil {
		return false
	}
	rel = strings.ToLower(filepath.ToSlash(rel))
	return slices.ContainsFunc([]string{
		".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".config/gh", ".kube", ".docker/config.json", ".password-store",
		".local/share/keyrings", "library/keychains", ".mozilla", ".config/google-chrome", ".config/chromium",
		".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml", ".gem/credentials", ".config/rclone", ".vault-token", ".local/state/skein",
		".claude/.credentials.json", ".codex/auth.json", ".bash_history", ".zsh_history", ".psql_history", ".python_history",
	}, func(s string) bool { return rel == s || strings.HasPrefix(rel, s+"/") })
}

// secretName reports whether a file of that name holds secrets in any folder.
func secretName(path string) bool {
	path = strings.ToLower(filepath.ToSlash(path))
	name := path[strings.LastIndexByte(path, '/')+1:]
	switch {
	case name == ".env", strings.HasPrefix(name, ".env.") && !slices.Contains([]string{".env.example", ".env.sample", ".env.template", ".env.dist"}, name):
		return true
	case slices.Contains([]string{".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", "credentials.json", "shadow", "gshadow"}, name):
		return true
	case strings.HasPrefix(name, "id_") && !strings.HasSuffix(name, ".pub") && slices.Contains([]string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"}, name):
		return true
	case slices.Contains([]string{".pem", ".key", ".p12", ".pfx", ".kdbx", ".jks", ".keystore"}, filepath.Ext(name)):
		return true
	}
	// The memory and environment of processes, including this one.
	return strings.HasPrefix(path, "/proc/") && slices.Contains([]string{"environ", "mem", "auxv", "cmdline"}, name)
}

// risky reports whether writing there may do more than store text: programs run
// its content without being asked to.
func (p place) risky() bool {
	names := strings.Split(strings.ToLower(filepath.ToSlash(p.real)), "/")
	if slices.Contains([]string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".kshrc",
		".envrc", ".gitconfig", ".mcp.json", ".xprofile", ".xsessionrc", "config.fish",
	}, names[len(names)-1]) {
		return true
	}
	if slices.ContainsFunc(names, func(dir string) bool {
		return slices.Contains([]string{".git", ".hg", ".svn", ".jj", ".skein", ".claude", ".codex", ".cursor", ".gemini", "autostart", "launchagents", "systemd"}, dir)
	}) {
		return true
	}
	// If the folder is a home: files that programs, including skein, read and
	// run. A project may itself be in such a folder.
	rel, err := filepath.Rel(p.base, p.real)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(filepath.ToSlash(rel)), "/"), func(dir string) bool {
		return slices.Contains([]string{".config", ".local", "application support", "appdata", ".vscode", ".husky"}, dir)
	})
}

// maxAsked is how many bytes of a path an approval question shows.
const maxAsked = 4 << 10

// asked returns the path of p, for a question.
func (p place) asked() string {
	s := tool.Visible(p.path, maxAsked)
	if p.real != p.path {
		s += " (really " + tool.Visible(p.real, maxAsked) + ")"
	}
	return s
}

// askRead returns the question before p is read, or "" if none is needed.
func (p place) askRead() string {
	if p.secret() {
		return "Read " + p.asked() + ", which may contain secrets?"
	}
	return ""
}

// askWrite returns the question before p is written, or "" if none is needed.
func (p place) askWrite() string {
	switch {
	case !p.inside():
		return "Write " + p.asked() + ", outside of " + tool.Visible(p.base, maxAsked) + "?"
	case p.risky():
		return "Write " + p.asked() + ", which programs obey?"
	case p.secret():
		return "Write " + p.asked() + ", which may contain secrets?"
	}
	return ""
}
