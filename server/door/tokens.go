package door

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
)

// allOf is the scope of the first token.
const allOf = "admin " + ReadRaw

// First is the name of the token in the first line of the file.
const First = "first"

const prefix = "skein_"

// A Token is what is known of a token, without the token itself.
type Token struct {
	Name    string     `json:"name"`
	Scope   string     `json:"scope"` // read, answer, write or admin, followed by read:raw if it may read secrets
	User    skein.User `json:"user,omitempty"`
	Expires skein.Time `json:"expires,omitzero"` // 0: never
	Hash    string     `json:"sha256,omitempty"` // of the token, in hexadecimal
}

// Tokens are the tokens of a file and of a registry, with the logins that were made
// with them.
type Tokens struct {
	*tokenFile
	registry accounts.Registry // nil if there is none
	audit    audit
	browsers browsers // logged in with tokens of the file
}

// A tokenFile is a file of tokens. The first line is a token itself, 256 random
// bits, which may do everything; each other line describes one in JSON, with
// its hash. Only the file's owner may read it. It is read again when it has
// changed.
type tokenFile struct {
	now func() time.Time

	mu    sync.Mutex
	file  private
	first string
	more  []Token
}

// OpenTokens returns the tokens of the file at path, and creates the file with
// a first token if it does not exist. now is the clock.
//
// The error is the system's, or says that the file does not hold tokens, is a
// symbolic link, or can be read by others.
func OpenTokens(path string, now func() time.Time) (_ *Tokens, err error) {
	defer skein.Wrapf(&err, "tokens %s", path)
	t := &Tokens{tokenFile: &tokenFile{now: now, file: private{path: path}}}
	t.browsers = browsers{of: t.tokenFile, file: private{path: filepath.Join(filepath.Dir(path), "logins")}}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := t.make(); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t, t.read()
}

// make writes a file with a first token, unless another process was faster.
func (t *tokenFile) make() error {
	if err := os.MkdirAll(filepath.Dir(t.file.path), 0o700); err != nil {
		return err
	}
	temp, err := t.file.writeNew(textOf(newToken(), nil))
	if err != nil {
		return err
	}
	err = os.Link(temp, t.file.path) // fails if the file exists
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, os.Remove(temp))
}

func newToken() string {
	var b [32]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// textOf returns the text of the file.
func textOf(first string, more []Token) []byte {
	b := []byte(first + "\n")
	for _, m := range more {
		b = append(append(b, skein.MustJSON(m)...), '\n')
	}
	return b
}

// read reads the file if it has changed.
func (t *tokenFile) read() error {
	data, now, err := t.file.read()
	if err != nil || data == nil {
		return err
	}
	first, rest, _ := strings.Cut(string(data), "\n")
	first = strings.TrimSpace(first)
	if len(first) < len(prefix)+32 || !strings.HasPrefix(first, prefix) {
		return errors.New("its first line is not a token: move the file away, and a new one is made")
	}
	var more []Token
	for i, line := range slices.Collect(strings.Lines(strings.TrimSpace(rest))) {
		var m Token
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Name == "" || len(m.Hash) != 64 || scopeOf(m.Scope) == Open {
			return fmt.Errorf("line %d is not a token", i+2)
		}
		more = append(more, m)
	}
	t.file.seen, t.first, t.more = now, first, more
	return nil
}

// Path returns where the file is.
func (t *tokenFile) Path() string { return t.file.path }

// First returns the first token.
func (t *tokenFile) First() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first
}

// All returns what is known of all tokens, the first one first.
//
// The error is that of reading the file.
func (t *tokenFile) All() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return nil, err
	}
	return append([]Token{{Name: First, Scope: allOf}}, t.more...), nil
}

// checkToken returns an error wrapping [skein.ErrInvalid] if such a token is
// not allowed.
func checkToken(a Token) error {
	if a.Name == "" || len(a.Name) > 100 || strings.ContainsFunc(a.Name, func(r rune) bool { return r < ' ' }) || scopeOf(a.Scope) == Open {
		return fmt.Errorf("token %q: scope %q: %w: want a name, and the scope read, answer, write or admin, with or without read:raw", a.Name, a.Scope, skein.ErrInvalid)
	}
	return nil
}

// Add makes a token with the name, scope, user and expiry of a, and returns it:
// it cannot be read again.
// The error wraps [skein.ErrExists] if the name is taken, or
// [skein.ErrInvalid].
func (t *tokenFile) Add(a Token) (token string, err error) {
	if err := checkToken(a); err != nil {
		return "", err
	}
	defer skein.Wrapf(&err, "door: add token %q", a.Name)
	token = newToken()
	a.Hash, a.Scope = hashOf(token), usual(a.Scope)
	return token, t.change(func(first string, all []Token) (string, []Token, error) {
		if a.Name == First || slices.ContainsFunc(all, func(m Token) bool { return m.Name == a.Name }) {
			return "", nil, fmt.Errorf("token %q %w", a.Name, skein.ErrExists)
		}
		return first, append(all, a), nil
	})
}

// SetScope changes the scope of the token of that name.
//
// The error wraps [skein.ErrNotFound] if there is no such token, or
// [skein.ErrInvalid], also for the first token, which can do everything.
func (t *tokenFile) SetScope(name, scope string) (err error) {
	if err := checkToken(Token{Name: name, Scope: scope}); err != nil {
		return err
	}
	defer skein.Wrapf(&err, "door: set token %q", name)
	if name == First {
		return skein.Invalidf("scope: the token %q can do everything", name)
	}
	return t.change(func(first string, all []Token) (string, []Token, error) {
		all = slices.Clone(all)
		at := slices.IndexFunc(all, func(m Token) bool { return m.Name == name })
		if at < 0 {
			return "", nil, fmt.Errorf("token %q %w", name, skein.ErrNotFound)
		}
		all[at].Scope = usual(scope)
		return first, all, nil
	})
}

// Remove removes the token of that name. The first one gets a new value
// instead.
//
// The error wraps [skein.ErrNotFound] if there is no such token.
func (t *tokenFile) Remove(name string) (err error) {
	defer skein.Wrapf(&err, "door: remove token %q", name)
	return t.change(func(first string, all []Token) (string, []Token, error) {
		if name == First {
			return newToken(), all, nil
		}
		rest := slices.DeleteFunc(slices.Clone(all), func(m Token) bool { return m.Name == name })
		if len(rest) == len(all) {
			return "", nil, fmt.Errorf("token %q %w", name, skein.ErrNotFound)
		}
		return first, rest, nil
	})
}

// change replaces the first token and the other lines with what f returns; one
// process at a time.
func (t *tokenFile) change(f func(first string, all []Token) (string, []Token, error)) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lock := flock.New(t.file.path + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := t.read(); err != nil {
		return err
	}
	first, more, err := f(t.first, t.more)
	if err != nil {
		return err
	}
	return t.replace(first, more)
}

func (t *tokenFile) replace(first string, more []Token) error {
	if err := t.file.replace(textOf(first, more)); err != nil {
		return err
	}
	return t.read()
}

// living reports whether m is valid and has not expired.
func (t *tokenFile) living(m Token) bool {
	return m.Name != "" && scopeOf(m.Scope) != Open && (m.Expires == 0 || m.Expires.Std().After(t.now()))
}

// String returns the word for s.
func (s Scope) String() string {
	return scopeNames()[s]
}

// scopeNames returns the words for the scopes, in order.
func scopeNames() []string { return []string{"open", "read", "answer", "write", "admin"} }

// ReadRaw is the additional scope of a token that may also read what looks like
// a secret. No other scope contains it.
const ReadRaw = "read:raw"

// scopeOf returns the scope that words stand for; Open if there are none, or
// one of them is unknown.
func scopeOf(words string) Scope {
	most := Open
	for _, word := range scopeWords(words) {
		s := Scope(max(0, slices.Index(append(scopeNames(), ReadRaw), word)))
		if s == Open {
			return Open
		}
		if word == ReadRaw {
			s = Read
		}
		most = max(most, s)
	}
	return most
}

// scopeWords returns the words of a scope, separated by spaces or commas.
func scopeWords(words string) []string {
	return strings.FieldsFunc(words, func(r rune) bool { return r == ' ' || r == ',' })
}

// raw reports whether words contain [ReadRaw].
func raw(words string) bool { return slices.Contains(scopeWords(words), ReadRaw) }

// usual returns words in the form that is stored: one scope, followed by
// [ReadRaw] if they contain it.
func usual(words string) string {
	if raw(words) {
		return scopeOf(words).String() + " " + ReadRaw
	}
	return scopeOf(words).String()
}
