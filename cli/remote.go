package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/remote"
)

// open opens the store: its file, its database or its server.
func (j *job) open(ctx context.Context) (skein.Store, error) {
	if !isServer(j.place.Scheme) {
		return j.openAt(ctx, j.place)
	}
	token, err := j.serverToken()
	if err != nil {
		return nil, err
	}
	s, err := remote.Open(ctx, remote.Options{URL: j.place.Path, Token: token})
	if err != nil { // else the interface would hold a nil pointer
		return nil, err
	}
	return s, nil
}

// serverToken returns the token for a server: SKEIN_TOKEN, or the first line of the
// token_file. It is not an argument, because other users can read those.
func (j *job) serverToken() (string, error) {
	if token := strings.TrimSpace(j.Getenv("SKEIN_TOKEN")); token != "" {
		return token, nil
	}
	file := fromHome(j.settings.text("token_file"), j.dirs.Home)
	if file == "" {
		return "", advise(fmt.Errorf("the server %s needs a token", hostOf(j.place.Path)),
			"make one where the server is: skein token add NAME --scope write,read:raw\n"+
				"put it into SKEIN_TOKEN, or into a file that token_file in %s names", j.tilde(filepath.Join(j.dirs.Config, "config.toml")))
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("token_file: %w", err)
	}
	if os.PathSeparator == '/' && info.Mode().Perm()&0o077 != 0 {
		return "", advise(fmt.Errorf("token_file %s: others can read it (mode %v)", file, info.Mode().Perm()), "chmod 600 %s", j.tilde(filepath.Clean(file)))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("token_file: %w", err)
	}
	token, _, _ := strings.Cut(string(b), "\n")
	if token = strings.TrimSpace(token); token == "" {
		return "", advise(errors.New("token_file: the first line of "+file+" is empty"), "put the token there")
	}
	return token, nil
}

// hostOf returns the host of a URL for messages: the rest may contain a secret.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "/")
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// owner returns the user that new sessions belong to.
func (j *job) owner() skein.User {
	if s, ok := j.store.(*remote.Store); ok && s.Owner() != "" {
		return s.Owner()
	}
	if u := j.settings.text("user"); u != "" && isDatabase(j.place.Scheme) {
		return skein.User(u)
	}
	return skein.Local
}
