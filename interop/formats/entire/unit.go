package entire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/internal/git"
	"github.com/skein-dev/skein/interop"
)

// look opens the checkpoints in a folder of Git.
func (t transcripts) look(ctx context.Context, dir string) (interop.Unit, error) {
	if has, err := mentions(dir); err != nil || !has {
		return nil, cmp.Or(err, interop.ErrOther)
	}
	repo := git.Bare(dir)
	commits := map[string]string{} // the checkpoint that is all of it, by hash; "" for a branch
	for _, prefix := range []string{"refs/heads/entire", "refs/remotes", "refs/entire/checkpoints"} {
		refs, err := repo.References(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for ref, hash := range refs {
			if isCheckpoints(ref) {
				commits[hash] = checkpointOf(ref)
			}
		}
	}
	if len(commits) == 0 {
		return nil, interop.ErrOther
	}
	objects, err := repo.Objects(ctx)
	if err != nil {
		return nil, err
	}
	u := &unit{known: t, dir: dir, objects: objects, sessions: map[string]*session{}}
	for _, hash := range slices.Sorted(maps.Keys(commits)) {
		files, err := repo.Files(ctx, hash)
		if err == nil {
			err = u.add(files, commits[hash])
		}
		if err != nil {
			return nil, errors.Join(err, objects.Close())
		}
	}
	return u, nil
}

// mentions reports whether the references in a folder of Git may be of checkpoints, so that
// Git need not be asked. The error is the system's.
func mentions(dir string) (bool, error) {
	packed, err := os.ReadFile(filepath.Join(dir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if bytes.Contains(packed, []byte("/entire/")) {
		return true, nil
	}
	for _, pattern := range []string{"refs/heads/" + branch, "refs/remotes/*/" + branch, "refs/entire/checkpoints"} {
		if found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern))); err != nil || len(found) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// A unit is the checkpoints of a repository.
type unit struct {
	known    transcripts
	dir      string
	objects  *git.ObjectReader
	sessions map[string]*session
	skips    []interop.Skip
}

// A session is what checkpoints have of one.
type session struct {
	agent       string
	size        int
	parts       []string // hashes of the longest transcript's pieces
	checkpoints map[string]checkpoint
}

// A checkpoint is what one says of a session.
type checkpoint struct {
	metadata
	about json.RawMessage
	hash  string
}

// add adds the checkpoints in the files of a commit: the one that is all of it, or, if
// that is "", those that are folders.
func (u *unit) add(files []git.TreeFile, whole string) error {
	byPath := make(map[string]git.TreeFile, len(files))
	for _, f := range files {
		byPath[f.Path] = f
	}
	for _, f := range files {
		dir, name := path.Split(f.Path)
		if name != "metadata.json" || !inCheckpoint(dir, whole) || byPath[dir+"full.jsonl"].Hash == "" {
			continue
		}
		o, err := u.objects.Read(f.Hash)
		if err != nil {
			return err
		}
		if o == nil {
			continue // a partial clone does not have it
		}
		u.addSession(dir, checkpoint{about: o.Body, hash: f.Hash}, byPath)
	}
	return nil
}

// inCheckpoint reports whether a folder, with a slash at its end, is a session's.
func inCheckpoint(dir, whole string) bool {
	depth := strings.Count(dir, "/")
	if whole != "" {
		return depth <= 1
	}
	return depth == 2 || depth == 3
}

// addSession adds what a checkpoint has of a session in a folder.
func (u *unit) addSession(dir string, c checkpoint, byPath map[string]git.TreeFile) {
	var compact bytes.Buffer
	if json.Compact(&compact, c.about) != nil || json.Unmarshal(c.about, &c.metadata) != nil || skein.SessionID(c.Session).Check() != nil {
		u.skips = append(u.skips, interop.Skip{Path: filepath.Join(u.dir, filepath.FromSlash(dir+"metadata.json")), Why: "it does not name a session"})
		return
	}
	c.about = compact.Bytes()
	var parts []string
	size := 0
	for n, f := 1, byPath[dir+"full.jsonl"]; f.Hash != ""; n, f = n+1, byPath[fmt.Sprintf("%sfull.jsonl.%03d", dir, n)] {
		if f.Size < 0 {
			return // a partial clone does not have it
		}
		parts, size = append(parts, f.Hash), size+f.Size
	}
	s := u.sessions[c.Session]
	if s == nil {
		s = &session{checkpoints: map[string]checkpoint{}}
		u.sessions[c.Session] = s
	}
	if size > s.size {
		s.size, s.parts = size, parts
	}
	s.agent = c.Agent
	s.checkpoints[c.Checkpoint] = c
}

// Sources implements [interop.Unit]; there are no errors.
func (u *unit) Sources(context.Context) (all []interop.Source, err error) {
	for _, name := range slices.Sorted(maps.Keys(u.sessions)) {
		s := u.sessions[name]
		sum := sha256.New()
		for _, hash := range s.parts {
			fmt.Fprintln(sum, hash) //nolint:errcheck // a hash takes all
		}
		for _, c := range s.inOrder() {
			fmt.Fprintln(sum, c.hash) //nolint:errcheck // as above
		}
		all = append(all, interop.Source{Name: name, Stamp: hex.EncodeToString(sum.Sum(nil)[:16]), Size: int64(s.size)})
	}
	return append(all, interop.Source{}), nil
}

// inOrder returns the checkpoints of a session, the oldest first.
func (s *session) inOrder() []checkpoint {
	return slices.SortedFunc(maps.Values(s.checkpoints), func(a, b checkpoint) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.Checkpoint, b.Checkpoint))
	})
}

// Open implements [interop.Unit]; the error is Git's, or says that there is no such source.
func (u *unit) Open(_ context.Context, name string) (io.ReadCloser, error) {
	if name == "" {
		names := slices.Sorted(maps.Keys(u.sessions))
		return io.NopCloser(bytes.NewReader(append(skein.MustJSON(map[string][]string{"entire_sessions": names}), '\n'))), nil
	}
	s := u.sessions[name]
	if s == nil {
		return nil, fmt.Errorf("%s has no session %q", u.dir, name)
	}
	var text bytes.Buffer
	for _, hash := range s.parts {
		o, err := u.objects.Read(hash)
		if err != nil || o == nil {
			return nil, cmp.Or(err, fmt.Errorf("%s: Git does not have %s any more", u.dir, hash))
		}
		text.Write(o.Body)
		if n := len(o.Body); n > 0 && o.Body[n-1] != '\n' {
			text.WriteByte('\n')
		}
	}
	h := header{Session: name}
	if f := u.known.of(filepath.ToSlash(fileOf(u.dir, name)), text.Bytes()); f != nil {
		h.Format = f.Name
	} else {
		u.skips = append(u.skips, interop.Skip{Path: u.dir + "#" + name, Why: fmt.Sprintf("the transcript of %q is in a form that is not known", s.agent)})
	}
	readers := []io.Reader{bytes.NewReader(append(skein.MustJSON(h), '\n')), &text}
	for _, c := range s.inOrder() {
		readers = append(readers, bytes.NewReader(append(skein.MustJSON(trailer{c.about}), '\n')))
	}
	return io.NopCloser(io.MultiReader(readers...)), nil
}

// Skips implements [interop.Unit].
func (u *unit) Skips() []interop.Skip { return u.skips }

// Close implements [interop.Unit]; the error is the system's.
func (u *unit) Close() error { return u.objects.Close() }
