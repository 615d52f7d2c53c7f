package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/fault"
	"github.com/skein-dev/skein/store/remote"
)

// OpenAt opens the store of a file or a database.
//
// The error is that of opening the store, or says that its file belongs to another
// user.
func (j *Job) OpenAt(ctx context.Context, p config.Place) (skein.Store, error) {
	if file := p.File(); file != "" {
		if err := FitsOwner(os.Geteuid(), file); err != nil {
			return nil, err
		}
	}
	return j.Open(ctx, p)
}

// FitsOwner returns an error if uid is root's, and the file at path, or the folder
// that it is or will be in, belongs to another user. That user can no longer change
// what root writes there, and can replace what root reads there.
func FitsOwner(uid int, path string) error {
	if uid != 0 {
		return nil // the system checks permissions
	}
	for at, below := path, ""; at != below; at, below = filepath.Dir(at), at {
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil //nolint:nilerr // who opens the file says it better
		}
		if owner, ok := ownerOf(info); ok && owner != uid {
			return ofAnother(at, owner)
		}
		if at != path {
			return nil // the nearest folder that exists
		}
	}
	return nil
}

// ofAnother returns the error that path belongs to a user other than root.
func ofAnother(path string, owner int) error {
	name, how := fmt.Sprintf("user %d", owner), fmt.Sprintf("in a container, docker run --user %d", owner)
	if u, err := user.LookupId(strconv.Itoa(owner)); err == nil {
		name, how = u.Username, "sudo -H -u "+u.Username+" skein …"
	}
	return fault.Advise(fmt.Errorf("%s belongs to %s, and you are root: %s could not use what root writes there", path, name, name),
		"run the command as %s: %s\nor give root files of its own: SKEIN_HOME=/root/skein", name, how)
}

// open opens the store: its file, its database or its server. What is kept beside it goes
// into the folder of the state.
func (j *Job) open(ctx context.Context) (skein.Store, error) {
	if err := FitsOwner(os.Geteuid(), j.Dirs.State); err != nil {
		return nil, err
	}
	if !config.IsServer(j.Place.Scheme) {
		return j.OpenAt(ctx, j.Place)
	}
	token, err := j.serverToken()
	if err != nil {
		return nil, cmp.Or(j.unreachable(ctx), err)
	}
	s, err := remote.Open(ctx, remote.Options{URL: j.Place.Path, Token: token})
	if err != nil { // else the interface would hold a nil pointer
		return nil, err
	}
	return s, nil
}

// unreachable returns an error if the place is not the address of a server, or if there
// is no server at it: then a token would not help.
func (j *Job) unreachable(ctx context.Context) error {
	s, err := remote.Open(ctx, remote.Options{URL: j.Place.Path, Token: "none"})
	if err == nil {
		return s.Close()
	}
	if errors.Is(err, remote.ErrUnreachable) || errors.Is(err, skein.ErrInvalid) {
		return err
	}
	return nil
}

// serverToken returns the token for a server: SKEIN_TOKEN, or the first line of the
// token_file. It is not an argument, because other users can read those.
func (j *Job) serverToken() (string, error) {
	if token := strings.TrimSpace(j.Getenv("SKEIN_TOKEN")); token != "" {
		return token, nil
	}
	file := config.FromHome(j.Settings.Text("token_file"), j.Dirs.Home)
	if file == "" {
		return "", fault.Advise(fmt.Errorf("the server %s needs a token", hostOf(j.Place.Path)),
			"make one on the server's machine: skein token add NAME --scope write,read:raw\n"+
				"put it into SKEIN_TOKEN, or into a file that token_file in %s names", j.Tilde(filepath.Join(j.Dirs.Config, "config.toml")))
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("token_file: %w", err)
	}
	if os.PathSeparator == '/' && info.Mode().Perm()&0o077 != 0 {
		return "", fault.Advise(fmt.Errorf("token_file %s: others can read it (mode %v)", file, info.Mode().Perm()), "chmod 600 %s", j.Tilde(filepath.Clean(file)))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("token_file: %w", err)
	}
	token, _, _ := strings.Cut(string(b), "\n")
	if token = strings.TrimSpace(token); token == "" {
		return "", fault.Advise(errors.New("token_file: the first line of "+file+" is empty"), "put the token there")
	}
	return token, nil
}

// hostOf returns the host of a URL for messages: the rest may contain a secret.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "/")
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// Owner returns the user that new sessions belong to.
func (j *Job) Owner() skein.User {
	if s, ok := j.Store.(*remote.Store); ok && s.Owner() != "" {
		return s.Owner()
	}
	if u := j.Settings.Text("user"); u != "" && config.IsDatabase(j.Place.Scheme) {
		return skein.User(u)
	}
	return skein.Local
}
