package door

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/store/accounts"
)

// registryTime bounds how long a lookup in the registry may take.
const registryTime = 10 * time.Second

// proof is what a request is authenticated by: the hash of a token or of a
// login.
type proof struct {
	login bool
	hash  [sha256.Size]byte
}

// proofOf returns the proof for a token; false if it is not a token of skein.
func proofOf(token string) (proof, bool) {
	return proof{hash: sha256.Sum256([]byte(token))}, strings.HasPrefix(token, prefix)
}

// proofInfo is what is known of a proof.
type proofInfo struct {
	token Token
	login string  // its ID; "" for a token
	in    logbook // the logbook with the login
}

// Find returns what is known of a token.
//
// The error wraps [skein.ErrNotFound] if the token is unknown or has expired.
// Any other error says that it could not be looked up, so nothing is known
// about it.
func (t *Tokens) Find(ctx context.Context, token string) (Token, error) {
	p, ok := proofOf(token)
	if !ok {
		return Token{}, skein.ErrNotFound
	}
	k, err := t.one(ctx, p)
	return k.token, err
}

// one is find for one proof. The error wraps [skein.ErrNotFound] if it is
// unknown.
func (t *Tokens) one(ctx context.Context, p proof) (proofInfo, error) {
	all, err := t.find(ctx, p)
	if err != nil {
		return proofInfo{}, err
	}
	k, ok := all[p]
	if !ok {
		return proofInfo{}, skein.ErrNotFound
	}
	return k, nil
}

// find looks up each proof, in the file and in the registry; those that are
// missing from the result are wrong, or have ended.
func (t *Tokens) find(ctx context.Context, proofs ...proof) (map[proof]proofInfo, error) {
	found := map[proof]proofInfo{}
	if err := t.inFile(proofs, found); err != nil || t.registry == nil {
		return found, err
	}
	var tokens, logins [][sha256.Size]byte
	for _, p := range proofs {
		if _, ok := found[p]; ok {
			continue
		}
		if p.login {
			logins = append(logins, p.hash)
		} else {
			tokens = append(tokens, p.hash)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, registryTime)
	defer cancel()
	if len(tokens) > 0 {
		all, err := t.registry.FindAccesses(ctx, tokens)
		if err != nil {
			return nil, err
		}
		for _, a := range all {
			t.registered(found, proof{hash: a.Hash}, a, "")
		}
	}
	if len(logins) > 0 {
		all, err := t.registry.FindLogins(ctx, logins)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if l := &all[i]; l.Expires.Std().After(t.now()) {
				t.registered(found, proof{true, l.Hash}, l.Access, l.ID)
			}
		}
	}
	return found, nil
}

// findInFile is find for the files alone.
func (t *Tokens) findInFile(_ context.Context, proofs ...proof) (map[proof]proofInfo, error) {
	found := map[proof]proofInfo{}
	return found, t.inFile(proofs, found)
}

// registered records what the registry knows of p, unless it has expired. A
// token with a name that is also in the file is not accepted: its logins would
// be mistaken for those of the other.
func (t *Tokens) registered(found map[proof]proofInfo, p proof, a accounts.Access, login string) {
	if m := tokenOf(a); t.living(m) && !t.has(a.Name) {
		found[p] = proofInfo{m, login, t.registry}
	}
}

// has reports whether the file, as last read, has a token of that name.
func (t *tokenFile) has(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.line(name)
	return ok
}

// line returns the token of that name in the file, as last read.
func (t *tokenFile) line(name string) (Token, bool) {
	if name == First {
		return Token{Name: First, Scope: allOf, Hash: hashOf(t.first)}, true
	}
	i := slices.IndexFunc(t.more, func(m Token) bool { return m.Name == name })
	if i < 0 {
		return Token{}, false
	}
	return t.more[i], true
}

// inFile records what the files know of proofs.
func (t *Tokens) inFile(proofs []proof, found map[proof]proofInfo) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return err
	}
	byHash := map[string]string{hashOf(t.first): First}
	for _, m := range t.more {
		byHash[m.Hash] = m.Name
	}
	var logins map[[sha256.Size]byte]accounts.Login
	for _, p := range proofs {
		name, login := byHash[hex.EncodeToString(p.hash[:])], ""
		if p.login {
			if logins == nil {
				all, err := t.browsers.living()
				if err != nil {
					return err
				}
				logins = map[[sha256.Size]byte]accounts.Login{}
				for _, l := range all {
					logins[l.Hash] = l
				}
			}
			name, login = logins[p.hash].Access.Name, logins[p.hash].ID
		}
		if m, ok := t.line(name); ok && t.living(m) {
			found[p] = proofInfo{m, login, &t.browsers}
		}
	}
	return nil
}

// named returns the token of that name, and the logbook with its logins. The
// error wraps [skein.ErrNotFound] if the token is unknown or has expired.
func (t *Tokens) named(ctx context.Context, name string) (Token, logbook, error) {
	if m, ok, err := t.lineNow(name); err != nil || ok || t.registry == nil {
		if err == nil && !t.living(m) {
			err = skein.ErrNotFound
		}
		return m, &t.browsers, err
	}
	ctx, cancel := context.WithTimeout(ctx, registryTime)
	defer cancel()
	a, err := t.registry.AccessNamed(ctx, name)
	m := tokenOf(a)
	if err == nil && !t.living(m) {
		err = skein.ErrNotFound
	}
	return m, t.registry, err
}

// lineNow is line, after reading the file again.
func (t *tokenFile) lineNow(name string) (Token, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return Token{}, false, err
	}
	m, ok := t.line(name)
	return m, ok, nil
}
