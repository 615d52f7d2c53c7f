package repository

import (
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// Normalize returns the identity of the repository at a remote's address:
// host and path, "github.com/owner/name". The forms of one address (HTTPS, SSH,
// git@host:path, with .git or without) give the same, and it never has a user or
// a password. It is "" for a folder, and for what is not an address.
func Normalize(address string) ID {
	host, name := split(strings.TrimSpace(address))
	host = strings.TrimRight(strings.ToLower(host), ".")
	if same, ok := sameHost[host]; ok {
		host = same
	}
	if name = strings.Trim(path.Clean("/"+name), "/"); host == "" || name == "" {
		return ""
	}
	name = strings.Trim(strings.TrimSuffix(name, ".git"), "/")
	if host == "dev.azure.com" {
		name = azure(name)
	}
	if anyCase[host] {
		name = strings.ToLower(name)
	}
	if name == "" || strings.ContainsFunc(host, notInHost) || host[0] == '.' || host[0] == '-' || strings.ContainsFunc(name, notInName) {
		return ""
	}
	return ID(host + "/" + name)
}

func notInHost(r rune) bool {
	return r < 0x80 && !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '-' || r == '_')
}

func notInName(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' || r == utf8.RuneError }

// sameHost are other names of a host, for networks that let only HTTPS pass.
var sameHost = map[string]string{
	"www.github.com": "github.com", "ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com", "altssh.bitbucket.org": "bitbucket.org",
	"ssh.dev.azure.com": "dev.azure.com",
}

// anyCase are the hosts that do not tell upper case from lower case.
var anyCase = map[string]bool{"github.com": true, "gitlab.com": true, "bitbucket.org": true, "codeberg.org": true, "dev.azure.com": true}

// remoteSchemes are those of addresses on a network.
var remoteSchemes = map[string]bool{"http": true, "https": true, "ssh": true, "git": true, "git+ssh": true, "ssh+git": true, "git+https": true, "git+http": true}

// split returns the host and the path of an address. The port does not count:
// SSH and HTTPS have different ones for the same repository.
func split(address string) (host, name string) {
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil {
			return "", ""
		}
		if !remoteSchemes[strings.ToLower(u.Scheme)] {
			return "", ""
		}
		return u.Hostname(), u.Path
	}
	// user@host:path, as scp has it; in C:\path, the host would be one letter
	host, name, ok := strings.Cut(address, ":")
	if !ok || len(host) < 2 || strings.ContainsAny(host, `/\`) {
		return "", ""
	}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	return host, name
}

// azure returns owner/project/name from the two forms that Azure DevOps has.
func azure(name string) string {
	return strings.Replace(strings.TrimPrefix(name, "v3/"), "/_git/", "/", 1)
}
