package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skein-dev/skein"
)

// projectKey returns the key of the project's own thread, and the thread if it has
// begun. It is the key among projectKeys that has a session of this project, else
// the first one that is free.
func (j *job) projectKey(ctx context.Context, u skein.User, project string) (string, skein.Session, error) {
	free := ""
	for _, key := range projectKeys(project) {
		s, err := j.withKey(ctx, u, key)
		switch there := err == nil; {
		case there && s.Project == project:
			return key, s, nil
		case !there && !isNotFound(err):
			return "", s, err
		case !there && free == "":
			free = key
		}
	}
	return free, skein.Session{}, nil
}

// projectKeys returns the keys that a project may use, in the order in which they
// are tried: cli:api, cli:work/api, …, the whole path, and one that is unique.
func projectKeys(project string) []string {
	path := strings.Trim(filepath.ToSlash(project), "/")
	if path == "" {
		return []string{"cli:/"}
	}
	words := strings.Split(path, "/")
	var keys []string
	for i := len(words) - 1; i >= 0; i-- {
		key := "cli:" + strings.Join(words[i:], "/")
		if !isKey(key) {
			break
		}
		keys = append(keys, key)
	}
	sum := sha256.Sum256([]byte(project))
	return append(keys, "cli:~"+hex.EncodeToString(sum[:8]))
}

// isKey reports whether key is valid with the milliseconds of a fresh session
// added.
func isKey(key string) bool {
	return len(key) <= skein.MaxIDLen-len(":1795230386350") && utf8.ValidString(key) && !strings.ContainsFunc(key, unicode.IsControl)
}

// withKey returns the session of u with this key. The error wraps
// skein.ErrNotFound if there is none.
func (j *job) withKey(ctx context.Context, u skein.User, key string) (skein.Session, error) {
	found, err := j.sessions(ctx, skein.Filter{User: u, Key: key, Limit: 1, IncludeEmpty: true})
	if err != nil {
		return skein.Session{}, err
	}
	if len(found) == 0 {
		return skein.Session{}, missing("no session with the key %q", key)
	}
	return found[0], nil
}
