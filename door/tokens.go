package door

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
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
)

// First is the name of the token in the first line of the file.
const First = "first"

const prefix = "skein_"

// A Token is what is known of one, not the token itself.
type Token struct {
	Name    string     `json:"name"`
	Scope   string     `json:"scope"` // read, write, admin
	User    skein.User `json:"user,omitempty"`
	Expires skein.Time `json:"expires,omitzero"` // 0: never
	Hash    string     `json:"sha256,omitempty"` // of the token, in hexadecimal
}

// Tokens is a file of tokens: the first line is a token itself, 256 random
// bits, which may do everything; each other line is one as JSON, by its hash.
// The file is its owner's alone. It is read again when it has changed.
type Tokens struct {
	path     string
	now      func() time.Time
	registry skein.Registry // nil if there is none

	mu    sync.Mutex
	stamp string // of the file that was read
	info  fs.FileInfo
	first string
	more  []Token
}

// OpenTokens returns the tokens of the file at path, and makes the file with
// its first token if there is none. now is the clock.
//
// Errors are the system's, or say that the file is none of tokens, or can be
// read by others.
func OpenTokens(path string, now func() time.Time) (_ *Tokens, err error) {
	defer skein.Wrapf(&err, "tokens %s", path)
	t := &Tokens{path: path, now: now}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := t.make(); err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t, t.read()
}

// make writes a file with a first token, unless another process just did.
func (t *Tokens) make() error {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return err
	}
	temp, err := t.write(newToken(), nil)
	if err != nil {
		return err
	}
	err = os.Link(temp, t.path) // fails if it is there
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

// write writes a file beside the tokens' and returns its path.
func (t *Tokens) write(first string, more []Token) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(t.path), ".tokens-*") // 0600
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	b.WriteString(first + "\n")
	for _, m := range more {
		b.Write(append(skein.MustJSON(m), '\n'))
	}
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// read reads the file if it has changed.
func (t *Tokens) read() error {
	info, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	stamp := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	if stamp == t.stamp && os.SameFile(info, t.info) {
		return nil
	}
	if os.PathSeparator == '/' && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others can read it (mode %v): chmod 600 %s", info.Mode().Perm(), t.path)
	}
	data, err := os.ReadFile(t.path)
	if err != nil {
		return err
	}
	in := bufio.NewReader(bytes.NewReader(data))
	first, _ := in.ReadString('\n')
	first = strings.TrimSpace(first)
	if len(first) < len(prefix)+32 || !strings.HasPrefix(first, prefix) {
		return errors.New("its first line is no token: move it away, and a new one is made")
	}
	rest, _ := bytes.CutPrefix(data, []byte(first))
	var more []Token
	for i, line := range slices.Collect(bytes.Lines(bytes.TrimSpace(rest))) {
		var m Token
		if err := json.Unmarshal(line, &m); err != nil || m.Name == "" || len(m.Hash) != 64 || scopeOf(m.Scope) == Open {
			return fmt.Errorf("line %d is no token", i+2)
		}
		more = append(more, m)
	}
	t.stamp, t.info, t.first, t.more = stamp, info, first, more
	return nil
}

// Path returns where the file is.
func (t *Tokens) Path() string { return t.path }

// First returns the first token.
func (t *Tokens) First() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first
}

// All returns what is known of all tokens, the first one first.
//
// Errors are those of reading the file.
func (t *Tokens) All() ([]Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return nil, err
	}
	return append([]Token{{Name: First, Scope: Admin.String()}}, t.more...), nil
}

// checkToken reports an error wrapping [skein.ErrInvalid] if there can be no
// such token.
func checkToken(a Token) error {
	if a.Name == "" || len(a.Name) > 100 || strings.ContainsFunc(a.Name, func(r rune) bool { return r < ' ' }) || scopeOf(a.Scope) == Open {
		return fmt.Errorf("token %q: scope %q: %w: a token has a name, and the scope read, write or admin", a.Name, a.Scope, skein.ErrInvalid)
	}
	return nil
}

// Add makes a token of the name, scope, user and expiry of a, and returns it:
// it cannot be seen again.
//
// The error wraps [skein.ErrExists] if there is one of that name, or
// [skein.ErrInvalid].
func (t *Tokens) Add(a Token) (token string, err error) {
	if err := checkToken(a); err != nil {
		return "", err
	}
	defer skein.Wrapf(&err, "token %q", a.Name)
	token = newToken()
	a.Hash = hashOf(token)
	return token, t.change(func(all []Token) ([]Token, error) {
		if a.Name == First || slices.ContainsFunc(all, func(m Token) bool { return m.Name == a.Name }) {
			return nil, skein.ErrExists
		}
		return append(all, a), nil
	})
}

// Remove takes the token of that name away. The first one gets a new value.
//
// The error wraps [skein.ErrNotFound].
func (t *Tokens) Remove(name string) (err error) {
	defer skein.Wrapf(&err, "token %q", name)
	if name == First {
		t.mu.Lock()
		defer t.mu.Unlock()
		if err := t.read(); err != nil {
			return err
		}
		return t.replace(newToken(), t.more)
	}
	return t.change(func(all []Token) ([]Token, error) {
		rest := slices.DeleteFunc(slices.Clone(all), func(m Token) bool { return m.Name == name })
		if len(rest) == len(all) {
			return nil, skein.ErrNotFound
		}
		return rest, nil
	})
}

// change makes other lines of what the lines are; one process at a time.
func (t *Tokens) change(f func([]Token) ([]Token, error)) (err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lock := flock.New(t.path + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := t.read(); err != nil {
		return err
	}
	more, err := f(t.more)
	if err != nil {
		return err
	}
	return t.replace(t.first, more)
}

func (t *Tokens) replace(first string, more []Token) error {
	temp, err := t.write(first, more)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, t.path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	t.stamp = ""
	return t.read()
}

// Find returns which token that is.
//
// The error wraps [skein.ErrNotFound] if it is none, or has expired. Another
// says that it could not be looked up: whose it is is not known then.
func (t *Tokens) Find(token string) (Token, error) {
	found, err := t.inFile(token)
	if errors.Is(err, skein.ErrNotFound) {
		return t.registered(token)
	}
	return found, err
}

// inFile returns which token of the file that is.
func (t *Tokens) inFile(token string) (Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return Token{}, err
	}
	hash := []byte(hashOf(token))
	found := Token{}
	if subtle.ConstantTimeCompare(hash, []byte(hashOf(t.first))) == 1 {
		found = Token{Name: First, Scope: Admin.String()}
	}
	for _, m := range t.more {
		if subtle.ConstantTimeCompare(hash, []byte(m.Hash)) == 1 {
			found = m
		}
	}
	return t.living(found)
}

// named returns the token of that name, and what signs its logins. Its errors
// are those of Find.
func (t *Tokens) named(name string) (found Token, signer string, err error) {
	there, err := t.inFileNamed(name)
	if err != nil {
		return Token{}, "", err
	}
	if !there {
		return t.registeredAs(name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if name == First {
		return Token{Name: First, Scope: Admin.String()}, t.first, nil
	}
	for _, m := range t.more {
		if m.Name == name {
			found = m
		}
	}
	found, err = t.living(found)
	return found, t.first, err
}

// living returns m, unless it is none or has expired.
func (t *Tokens) living(m Token) (Token, error) {
	if m.Name == "" || m.Expires != 0 && !m.Expires.Std().After(t.now()) || scopeOf(m.Scope) == Open {
		return Token{}, skein.ErrNotFound
	}
	return m, nil
}

// String returns the word for s.
func (s Scope) String() string {
	return [...]string{"open", "read", "write", "admin"}[s]
}

// scopeOf returns what a word stands for; Open for none.
func scopeOf(word string) Scope {
	return Scope(max(0, slices.Index([]string{"open", "read", "write", "admin"}, word)))
}
