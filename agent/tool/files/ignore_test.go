package files_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ignoreNames and ignoreRules are the parts of the test's folders and rules.
func ignoreNames() []string { return []string{"a", "b.go", "a b", "x.log", "ab", "#c", "!d", "éé"} }

func ignoreRules() []string {
	return []string{
		"a", "/a", "a/", "*.log", "!x.log", "**/a", "a/**", "a/*", "/*", "!/a", "a/**/b.go", "?", "a?", "[ab]", "[!a]b", "[a-c]*", `\#c`, `\!d`, "!ab",
		"*", "!*/", "!b.go", "a/b.go", "**/b.go", "a b", "a\\ b", "x.log   ", "# no rule", "", "é*", "**", "*b*", "ab/a", "/ab/**/a/", "**a", "a**", "[]", "[", "a[", "x.*", "./a", "a//b.go",
	}
}

// list_files leaves out exactly the files that git ignores.
func TestIgnoredIsWhatGitIgnores(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git to compare with")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func(of []string) string { return of[rnd.IntN(len(of))] }
	for range 20 {
		content := map[string]string{}
		for range 25 {
			dir := ""
			for range rnd.IntN(4) {
				dir = filepath.Join(dir, "d"+pick(ignoreNames()))
				if rnd.IntN(2) == 0 {
					dir = filepath.Join(filepath.Dir(dir), strings.TrimPrefix(filepath.Base(dir), "d"))
				}
			}
			content[filepath.Join(dir, "f"+pick(ignoreNames()))] = ""
			content[filepath.Join(dir, "z", pick(ignoreNames()))] = ""
			if rnd.IntN(4) == 0 {
				content[filepath.Join(dir, ".gitignore")] = pick(ignoreRules()) + "\n" + pick(ignoreRules())
			}
		}
		content[".gitignore"] = pick(ignoreRules()) + "\n" + pick(ignoreRules()) + "\r\n" + pick(ignoreRules())
		compareWithGit(t, git, content)
		if t.Failed() {
			return
		}
	}
}

func compareWithGit(t *testing.T, git string, content map[string]string) {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir(), home: t.TempDir()}
	for name, text := range content {
		full := filepath.Join(d.dir, name)
		if os.MkdirAll(filepath.Dir(full), 0o755) == nil { // the path may be a file already
			if s, err := os.Stat(full); err != nil || !s.IsDir() {
				d.put(full, text)
			}
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir = d.dir
		cmd.Env = append(os.Environ(), "HOME="+d.home, "XDG_CONFIG_HOME="+d.home, "GIT_CONFIG_NOSYSTEM=1")
		var bad bytes.Buffer
		cmd.Stderr = &bad
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, &bad)
		}
		return string(out)
	}
	run("init", "-q")
	want := strings.FieldsFunc(run("ls-files", "-z", "--others", "--exclude-standard"), func(r rune) bool { return r == 0 })
	d.tools = newDesk(t, nil).tools
	got := strings.Split(strings.TrimSuffix(d.run("list_files", given{"pattern": "*", "limit": 5000}), "\n"), "\n")
	if len(want) == 0 {
		want = []string{`[no file matches "*" in .]`}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("with %q\nlist_files shows %q\nand git %q", content, got, want)
	}
}
