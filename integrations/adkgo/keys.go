package adkgo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"google.golang.org/adk/v2/session"

	"github.com/skein-dev/skein"
)

const (
	keyPrefix   = "adk:"
	statePrefix = "adk-state:"
)

// keyOf returns a key for names: the names, each escaped, or a hash of them if
// that is too long for a key.
func keyOf(prefix string, names ...string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = url.PathEscape(name)
	}
	key := prefix + strings.Join(escaped, "/")
	if len(key) > skein.MaxIDLen {
		key = prefix + "sha256/" + fmt.Sprint(len(names)) + "/" + hashOf(names...)
	}
	return key
}

// hashOf hashes texts, each separately delimited.
func hashOf(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c *config) key() string { return keyOf(keyPrefix, c.App, c.User, c.ID) }

func (c *config) check() error {
	for _, part := range []struct{ name, is string }{{"app name", c.App}, {"user ID", c.User}, {"session ID", c.ID}} {
		if part.is == "" {
			return fmt.Errorf("%w %s: it is empty", skein.ErrInvalid, part.name)
		}
	}
	return nil
}

// A stateOwner is the owner of state that does not belong to a session.
type stateOwner struct {
	prefix string // of its names in ADK's state
	key    string // of the session that stores it
	title  string
}

func (c *config) scopes() []stateOwner { return []stateOwner{c.appScope(), c.userScope()} }

func (c *config) appScope() stateOwner {
	return stateOwner{session.KeyPrefixApp, keyOf(statePrefix, c.App), "State of " + c.App}
}

func (c *config) userScope() stateOwner {
	return stateOwner{session.KeyPrefixUser, keyOf(statePrefix, c.App, c.User), "State of " + c.App + " for " + c.User}
}

// split divides a state into the app's and the user's, without the prefixes,
// and the session's. Temporary state is dropped.
func split(state map[string]any) (app, user, own map[string]any) {
	app, user, own = map[string]any{}, map[string]any{}, map[string]any{}
	for name, value := range state {
		if rest, ok := strings.CutPrefix(name, session.KeyPrefixApp); ok {
			app[rest] = value
		} else if rest, ok := strings.CutPrefix(name, session.KeyPrefixUser); ok {
			user[rest] = value
		} else if !strings.HasPrefix(name, session.KeyPrefixTemp) {
			own[name] = value
		}
	}
	return app, user, own
}
