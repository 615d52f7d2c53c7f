package cli_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// serving starts skein serve on the store in the script's home folder, with the
// given flags, and sets SERVER to its URL. It ends with the script.
func serving(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serving [FLAGS]")
	}
	program, err := exec.LookPath("skein")
	ts.Check(err)
	cmd := exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{"PATH", "HOME", "USERPROFILE", "SKEIN_HOME", "SKEIN_NOW", "TMPDIR", "SYSTEMROOT", "MAIL_SECRET", "SKEIN_STORE", "SKEIN_USER", "PGPASSWORD", "PGSSLMODE"} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv("SERVER", strings.TrimSpace(line))
}
