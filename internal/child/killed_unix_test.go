//go:build unix

package child_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/skein-dev/skein/internal/child"
)

// starter is the variable that makes this test's binary start a program, which starts
// another and prints both process IDs, and wait to be killed.
const starter = "SKEIN_TEST_CHILD_STARTER"

func TestMain(m *testing.M) {
	if os.Getenv(starter) == "" {
		os.Exit(m.Run())
	}
	cmd, _ := shell(context.Background(), "sleep 1000 >&- 2>&- & echo $$ $!; wait")
	cmd.Stdout = os.Stdout
	if _, err := child.Start(cmd); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("started")
	select {}
}

func TestNothingThatWasStartedOutlivesUs(t *testing.T) {
	us := exec.CommandContext(t.Context(), os.Args[0])
	us.Env, us.Stderr = append(os.Environ(), starter+"=1"), os.Stderr
	out, err := us.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	var line string // of the program; ours comes before or after it
	for r, n := bufio.NewReader(out), 0; n < 2; n++ {
		one, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if one != "started\n" {
			line = one
		}
	}
	var pids [2]int
	if _, err := fmt.Sscan(line, &pids[0], &pids[1]); err != nil || !alive(pids[0]) || !alive(pids[1]) {
		t.Fatalf("the processes %q do not run (%v); the test needs them to", line, err)
	}
	if err := us.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = us.Wait() // it was killed
	for _, pid := range pids {
		gone(t, pid)
	}
}

// A process that a program leaves running on purpose is not ended when the group is
// released.
func TestWhatIsLeftBehindLivesOn(t *testing.T) {
	cmd, out := shell(t.Context(), "sleep 1000 >/dev/null 2>&1 & echo $!")
	g, err := child.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("Wait = %v with %q", err, out)
	}
	g.Release()
	g.Release()
	var pid int
	fmt.Sscan(strings.TrimSpace(out.String()), &pid)
	if !alive(pid) {
		t.Errorf("process %d, which the child left behind, has ended", pid)
	}
	if err := g.Kill(); err != nil {
		t.Errorf("Kill = %v", err)
	}
}
