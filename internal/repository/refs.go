package repository

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// noBranch is what HEAD refers to where Git keeps references in another form
// (reftable): they cannot be read here.
const noBranch = "refs/heads/.invalid"

// maxLinks is how many symbolic references may follow each other, as in Git.
const maxLinks = 5

// head returns the branch and the commit that are checked out; "" for what
// there is not.
func (r *repo) head() (branch, commit string, err error) {
	b, err := small(filepath.Join(r.dir, "HEAD"))
	if err != nil {
		return "", "", err
	}
	ref, is := symbolic(b)
	switch {
	case !is:
		commit, err = hash(b)
		return "", commit, err
	case ref == noBranch:
		return "", "", nil
	}
	branch, _ = strings.CutPrefix(ref, "refs/heads/")
	commit, err = r.ref(ref)
	return branch, commit, err
}

// ref returns the commit that a reference names; "" if there is none yet.
func (r *repo) ref(name string) (string, error) {
	for range maxLinks {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return "", fmt.Errorf("reference %q is no path", name)
		}
		b, err := small(filepath.Join(r.common, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return r.packedRef(name)
		}
		if err != nil {
			return "", err
		}
		next, is := symbolic(b)
		if !is {
			return hash(b)
		}
		name = next
	}
	return "", fmt.Errorf("reference %q: too many symbolic references", name)
}

// packedRef returns the commit that a reference names in packed-refs.
func (r *repo) packedRef(name string) (string, error) {
	b, err := atMost(filepath.Join(r.common, "packed-refs"), refsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	b = append([]byte{'\n'}, b...)
	at := bytes.Index(b, []byte(" "+name+"\n"))
	if at < 0 {
		return "", nil
	}
	return hash(b[bytes.LastIndexByte(b[:at], '\n')+1 : at])
}

func symbolic(b []byte) (ref string, is bool) {
	ref, is = strings.CutPrefix(string(b), "ref:")
	return strings.TrimSpace(ref), is
}

// hash returns the hash that a line consists of, in hex: SHA-1 or SHA-256.
func hash(b []byte) (string, error) {
	s := strings.TrimSpace(string(b))
	if len(s) != 40 && len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%q is not the hash of a commit", s[:min(len(s), 80)])
	}
	return s, nil
}
