package pgtest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// programs returns the folder with initdb, postgres and pg_ctl. It installs them if
// they are missing and it may.
func programs() (string, error) {
	if dir, ok := found(); ok {
		return dir, nil
	}
	if err := install(); err != nil {
		return "", err
	}
	if dir, ok := found(); ok {
		return dir, nil
	}
	return "", errors.New("initdb and postgres are not found after the package was installed")
}

func found() (string, bool) {
	for _, dir := range places() {
		if complete(dir) {
			return dir, true
		}
	}
	return "", false
}

// places returns the folders to search, the most likely first.
func places() (dirs []string) {
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin", "/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			continue // no such pattern is wrong
		}
		slices.SortFunc(matches, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
		dirs = append(dirs, matches...)
	}
	if p, err := exec.LookPath("initdb"); err == nil {
		dirs = append(dirs, filepath.Dir(p))
	}
	return dirs
}

// version returns the number in a folder's path; 0 if it has none.
func version(dir string) int {
	i := strings.IndexFunc(dir, func(r rune) bool { return r >= '0' && r <= '9' })
	if i < 0 {
		return 0
	}
	digits, _, _ := strings.Cut(dir[i:], "/")
	n, err := strconv.Atoi(strings.TrimRight(digits, "-."))
	if err != nil {
		return 0
	}
	return n
}

func complete(dir string) bool {
	for _, program := range []string{"initdb", "postgres", "pg_ctl"} {
		if _, err := exec.LookPath(filepath.Join(dir, program)); err != nil {
			return false
		}
	}
	return true
}

// install installs Debian's package, without the cluster that it makes and
// starts by itself.
func install() error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("its programs are not installed, and there is no apt-get to install them with")
	}
	var root []string
	if os.Getuid() != 0 {
		root = []string{"sudo", "-n"}
		if err := exec.Command("sudo", "-n", "true").Run(); err != nil {
			return errors.New("its programs are not installed, and we are not root, nor may use sudo without a password")
		}
	}
	script := `apt-get update -qq || true
apt-get install -y -qq --no-install-recommends postgresql-common &&
sed -i 's/^#* *create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf &&
apt-get install -y -qq --no-install-recommends postgresql`
	args := append(root, "env", "DEBIAN_FRONTEND=noninteractive", "sh", "-c", script)
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("its programs are not installed, and apt-get does not install them: %w: %s", err, tail(out))
	}
	return nil
}

// tail returns the end of what a program wrote.
func tail(out []byte) string {
	const most = 2000
	return strings.TrimSpace(string(out[max(0, len(out)-most):]))
}
