package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/repository"
)

// run runs Git in a folder, with nobody's configuration, and returns what it prints.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// repo makes a repository with two commits on the branch main.
func repo(t *testing.T) string {
	t.Helper()
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run(t, dir, "init", "-q", "-b", "main")
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	run(t, dir, "commit", "-q", "--allow-empty", "-m", "two")
	return dir
}

func at(t *testing.T, dir string) repository.Place {
	t.Helper()
	p, err := repository.At(dir)
	if err != nil {
		t.Fatalf("At(%s) = %v", dir, err)
	}
	return p
}

func want(t *testing.T, got, want repository.Place) {
	t.Helper()
	if got != want {
		t.Errorf("At = %+v\nwant %+v", got, want)
	}
}

func TestTheFormsOfAnAddressAreOneRepository(t *testing.T) {
	for _, address := range []string{
		"https://github.com/Owner/name.git", "https://github.com/owner/name", "https://github.com/owner/name/", "http://github.com:80/owner/name.git",
		"https://user:secret@github.com/owner/name.git", "https://token@github.com/owner/name", "git@github.com:owner/name.git", "github.com:owner/name",
		"ssh://git@github.com/owner/name.git", "ssh://git@github.com:22/owner/name", "ssh://git@ssh.github.com:443/owner/name.git", "git://github.com/owner/name.git",
		"git+ssh://git@github.com/owner/name.git", "git@github.com:/owner/name.git", " https://GitHub.com/owner//name.git\n", "https://github.com./owner/name",
	} {
		if id := repository.Normalize(address); id != "github.com/owner/name" {
			t.Errorf("Normalize(%q) = %q, want github.com/owner/name", address, id)
		}
	}
	for address, id := range map[string]repository.ID{
		"https://git.example.org/Group/Sub/Name.git":        "git.example.org/Group/Sub/Name",
		"ssh://git@git.example.org:2222/Group/Sub/Name.git": "git.example.org/Group/Sub/Name",
		"https://dev.azure.com/org/project/_git/name":       "dev.azure.com/org/project/name",
		"https://org@dev.azure.com/org/Project/_git/name":   "dev.azure.com/org/project/name",
		"git@ssh.dev.azure.com:v3/org/project/name":         "dev.azure.com/org/project/name",
		"https://example.org/~user/name.git":                "example.org/~user/name",
		"/srv/git/name.git":                                 "",
		"file:///srv/git/name.git":                          "",
		"../name.git":                                       "",
		`C:\git\name.git`:                                   "",
		"C:/git/name.git":                                   "",
		"":                                                  "",
		"https://github.com":                                "",
		"https://github.com/.git":                           "",
		"https://exa mple.org/a":                            "",
		"./git@host:name":                                   "",
		"ext::sh -c true":                                   "",
	} {
		if got := repository.Normalize(address); got != id {
			t.Errorf("Normalize(%q) = %q, want %q", address, got, id)
		}
	}
}

func TestACloneHasTheIdentityOfItsRemote(t *testing.T) {
	dir := repo(t)
	run(t, dir, "remote", "add", "fork", "https://github.com/me/name.git")
	run(t, dir, "remote", "add", "origin", "git@github.com:owner/name.git")
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	commit := run(t, dir, "rev-parse", "HEAD")
	want(t, at(t, sub), repository.Place{Repository: "github.com/owner/name", Project: dir, Folder: "a/b", Branch: "main", Commit: commit, Git: true})

	run(t, dir, "remote", "remove", "origin")
	if id := at(t, dir).Repository; id != "github.com/me/name" {
		t.Errorf("with one other remote, it is %q", id)
	}
	run(t, dir, "remote", "add", "abc", "https://github.com/abc/name.git")
	run(t, dir, "config", "branch.main.remote", "abc")
	if id := at(t, dir).Repository; id != "github.com/abc/name" {
		t.Errorf("on a branch that tracks another remote, it is %q", id)
	}
}

func TestWithoutARemoteTheFirstCommitIsTheIdentity(t *testing.T) {
	dir := repo(t)
	first := run(t, dir, "rev-list", "--max-parents=0", "HEAD")
	id := repository.ID("root:" + first)
	if got := at(t, dir).Repository; got != id {
		t.Errorf("loose commits: %q, want %q", got, id)
	}
	// A clone from a folder is the same repository: the folder is no address.
	clone := filepath.Join(t.TempDir(), "clone")
	run(t, dir, "clone", "-q", "--no-local", dir, clone)
	if got := at(t, clone).Repository; got != id {
		t.Errorf("a clone: %q, want %q", got, id)
	}
	// One that borrows objects.
	borrows := filepath.Join(t.TempDir(), "borrows")
	run(t, dir, "clone", "-q", "--shared", dir, borrows)
	if got := at(t, borrows).Repository; got != id {
		t.Errorf("a clone that borrows objects: %q, want %q", got, id)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	run(t, dir, "clone", "-q", "--depth", "1", "file://"+dir, shallow)
	if got := at(t, shallow); got.Repository != "" || got.Commit == "" {
		t.Errorf("a shallow clone: %+v, want a commit and no identity", got)
	}
}

// Packs hold commits that are written as differences from others.
func TestTheFirstCommitIsFoundInPacks(t *testing.T) {
	dir := repo(t)
	first := run(t, dir, "rev-list", "--max-parents=0", "HEAD")
	message := strings.Repeat("the same long text of a message, so that a difference is shorter\n", 40)
	for range 30 {
		run(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	}
	for _, ofs := range []string{"true", "false"} {
		run(t, dir, "-c", "repack.useDeltaBaseOffset="+ofs, "repack", "-q", "-a", "-d", "-f", "--depth=50")
		run(t, dir, "pack-refs", "--all")
		packs, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.idx"))
		if err != nil || len(packs) != 1 {
			t.Fatal(packs, err)
		}
		if chains := run(t, dir, "verify-pack", "-v", packs[0]); !strings.Contains(chains, "chain length = 1:") {
			t.Fatalf("the pack has no differences:\n%s", chains)
		}
		if got := at(t, dir); got.Repository != repository.ID("root:"+first) || got.Branch != "main" {
			t.Errorf("offsets %s: %+v, want root:%s", ofs, got, first)
		}
	}
}

func TestWorktreesAndSubmodulesAreProjects(t *testing.T) {
	dir := repo(t)
	run(t, dir, "remote", "add", "origin", "https://github.com/owner/name.git")
	tree := filepath.Join(filepath.Dir(dir), "tree")
	t.Cleanup(func() { _ = os.RemoveAll(tree) })
	run(t, dir, "worktree", "add", "-q", "-b", "other", tree, "HEAD~1")
	want(t, at(t, tree), repository.Place{
		Repository: "github.com/owner/name", Project: tree, Branch: "other", Commit: run(t, tree, "rev-parse", "HEAD"), Worktree: "tree", Git: true,
	})

	part := repo(t)
	run(t, dir, "submodule", "--quiet", "add", part, "part")
	run(t, filepath.Join(dir, "part"), "remote", "set-url", "origin", "https://github.com/owner/part.git")
	want(t, at(t, filepath.Join(dir, "part")), repository.Place{
		Repository: "github.com/owner/part", Project: filepath.Join(dir, "part"), Branch: "main", Commit: run(t, part, "rev-parse", "HEAD"), Git: true,
	})
}

func TestHeadsWithoutABranchOrACommit(t *testing.T) {
	dir := repo(t)
	commit := run(t, dir, "rev-parse", "HEAD")
	run(t, dir, "checkout", "-q", "--detach")
	if p := at(t, dir); p.Branch != "" || p.Commit != commit {
		t.Errorf("detached: branch %q, commit %q, want none and %s", p.Branch, p.Commit, commit)
	}
	run(t, dir, "checkout", "-q", "--orphan", "new/one")
	if p := at(t, dir); p.Branch != "new/one" || p.Commit != "" || p.Repository != "" {
		t.Errorf("without a commit: %+v", p)
	}

	run(t, dir, "checkout", "-q", "main")
	bare := filepath.Join(t.TempDir(), "name.git")
	run(t, dir, "clone", "-q", "--bare", dir, bare)
	run(t, bare, "remote", "set-url", "origin", "https://github.com/owner/name")
	if p := at(t, filepath.Join(bare, "refs")); p.Repository != "github.com/owner/name" || p.Folder != "" || p.Branch != "main" || p.Commit != commit {
		t.Errorf("bare: %+v", p)
	}

	none := t.TempDir()
	if p := at(t, none); p.Git || p.Repository != "" || p.Project == "" {
		t.Errorf("without Git: %+v", p)
	}
	gone := filepath.Join(dir, "gone", "away")
	if p := at(t, gone); p.Project != dir || p.Folder != "gone/away" {
		t.Errorf("a folder that is gone: %+v", p)
	}

	sha256 := t.TempDir()
	run(t, sha256, "init", "-q", "-b", "main", "--object-format=sha256")
	run(t, sha256, "commit", "-q", "--allow-empty", "-m", "one")
	run(t, sha256, "commit", "-q", "--allow-empty", "-m", "two")
	first := run(t, sha256, "rev-list", "--max-parents=0", "HEAD")
	for _, state := range []string{"loose", "packed"} {
		if p := at(t, sha256); p.Repository != repository.ID("root:"+first) {
			t.Errorf("SHA-256, %s: %+v, want root:%s", state, p, first)
		}
		run(t, sha256, "gc", "-q")
	}
}

// What Git's own parser reads, ours reads the same.
func TestTheConfigurationIsReadAsGitDoes(t *testing.T) {
	for _, c := range []struct{ config, url string }{
		{"[remote \"origin\"]\n\turl = https://github.com/o/one.git ; a comment\n", "github.com/o/one"},
		{"[REMOTE \"origin\"] URL=https://github.com/o/two.git", "github.com/o/two"},
		{"[remote \"origin\"]\n\turl = \"https://github.com/o/three.git\" # more\n", "github.com/o/three"},
		{"[remote \"origin\"]\r\n\turl = https://github.com/o/\\\r\nfour\r\n", "github.com/o/four"},
		{"[remote.origin]\nurl = https://github.com/o/five\n", "github.com/o/five"},
		{"[url \"https://github.com/\"]\n\tinsteadOf = gh:\n[url \"https://example.org/\"]\n\tinsteadOf = gh:o/\n[remote \"origin\"]\n\turl = gh:o/six\n", "example.org/six"},
		{"[remote \"a\\\"b\"]\n\turl = https://github.com/o/seven\n", "github.com/o/seven"},
		{"[remote \"origin\"]\n\turl = https://github.com/o/eight\n\turl = https://github.com/o/not\n", "github.com/o/eight"},
		{"[remote \"origin\"]\n\turl\n[broken\nurl = x\n[remote \"b\"]\n\turl = https://github.com/o/nine\n", "github.com/o/nine"},
	} {
		dir := repo(t)
		if err := os.WriteFile(filepath.Join(dir, ".git", "config"), []byte(c.config), 0o600); err != nil {
			t.Fatal(err)
		}
		if p := at(t, dir); string(p.Repository) != c.url {
			t.Errorf("%q gives %q, want %q", c.config, p.Repository, c.url)
		}
	}
}

// A repository that is damaged says so, and the rest is still known.
func TestDamageIsNamedAndStopsNothing(t *testing.T) {
	dir := repo(t)
	commit := run(t, dir, "rev-parse", "HEAD")
	object := filepath.Join(dir, ".git", "objects", commit[:2], commit[2:])
	if err := os.Chmod(object, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, file, content, says string }{
		{"an object", object, "no zlib", commit},
		{"HEAD", filepath.Join(dir, ".git", "HEAD"), "not a hash\n", "not a hash"},
	} {
		if err := os.WriteFile(c.file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := repository.At(dir)
		if err == nil || !strings.Contains(err.Error(), c.says) || p.Project != dir || !p.Git {
			t.Errorf("%s: %+v, %v; want an error that names %q", c.name, p, err, c.says)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := repository.At(dir); err == nil || p.Project != dir {
		t.Errorf("a file .git that names nothing: %+v, %v", p, err)
	}
}

// Where real repositories are at hand, the first commit is the one that Git finds.
func TestRealRepositories(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skip("the tests do not run in a clone: ", err)
	}
	dir := strings.TrimSpace(string(out))
	p := at(t, dir)
	if commit := run(t, dir, "rev-parse", "HEAD"); p.Commit != commit {
		t.Errorf("commit %q, want %q", p.Commit, commit)
	}
	if branch := run(t, dir, "branch", "--show-current"); p.Branch != branch {
		t.Errorf("branch %q, want %q", p.Branch, branch)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"https://user:secret@github.com/a/b.git", "git@host:a/b", "x://", "C:\\a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id := repository.Normalize(s)
		if again := repository.Normalize("git@" + strings.Replace(string(id), "/", ":", 1)); id != "" && again != id {
			t.Errorf("Normalize(%q) = %q, and that again %q", s, id, again)
		}
	})
}

// The way to the first commit is gone once: then a cache has it, whatever is committed
// or checked out since.
func TestTheWayToTheFirstCommitIsRemembered(t *testing.T) {
	dir, cache := repo(t), t.TempDir()
	for n := range 100 {
		run(t, dir, "commit", "-q", "--allow-empty", "-m", strconv.Itoa(n))
	}
	first := run(t, dir, "rev-list", "--max-parents=0", "HEAD")
	root := func() repository.ID {
		t.Helper()
		p, err := repository.PlaceFinder{Cache: cache}.At(dir)
		if err != nil {
			t.Fatal(err)
		}
		return p.Repository
	}
	if got := root(); got != repository.ID("root:"+first) {
		t.Fatalf("root %s, want %s", got, first)
	}
	// Most of the way is no longer there.
	near := run(t, dir, "rev-list", "--max-count=35", "HEAD")
	for _, commit := range strings.Fields(run(t, dir, "rev-list", "HEAD")) {
		if strings.Contains(near, commit) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, ".git", "objects", commit[:2], commit[2:])); err != nil {
			t.Fatal(err)
		}
	}
	for _, move := range [][]string{{"checkout", "-q", "--detach", "HEAD~1"}, {"commit", "-q", "--allow-empty", "-m", "another"}} {
		run(t, dir, move...)
		if got := root(); got != repository.ID("root:"+first) {
			t.Errorf("root after git %s: %s, want %s", strings.Join(move, " "), got, first)
		}
	}
	if _, err := repository.At(dir); err == nil {
		t.Error("without the cache, the way is not gone: the test shows nothing")
	}
}
