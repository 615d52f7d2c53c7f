package child_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/skein-dev/skein/internal/child"
)

// In a session of its own a program has no terminal, and signals for ours do
// not reach it.
func TestAChildIsASessionOfItsOwn(t *testing.T) {
	if got := run(t, `set -- $(cat /proc/$$/stat); if [ "$6" = $$ ]; then echo own; else echo "that of $6"; fi`); got != "own" {
		t.Errorf("the child's session is %s, want its own", got)
	}
}

// starter is the variable that makes this test's binary start a program, say
// its number and wait to be killed.
const starter = "SKEIN_TEST_CHILD_STARTER"

func TestMain(m *testing.M) {
	if os.Getenv(starter) == "" {
		os.Exit(m.Run())
	}
	cmd, _ := shell(context.Background(), "exec sleep 1000")
	if _, err := child.Start(cmd); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(cmd.Process.Pid)
	select {}
}

func TestAChildDoesNotOutliveUs(t *testing.T) {
	us := exec.CommandContext(t.Context(), os.Args[0])
	us.Env, us.Stderr = append(os.Environ(), starter+"=1"), os.Stderr
	out, err := us.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	fmt.Sscan(line, &pid)
	if !alive(pid) {
		t.Fatalf("the child %d does not run; the test needs it to", pid)
	}
	if err := us.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = us.Wait() // it was killed
	gone(t, pid)
}

// The thread that started a child is there as long as the child is: whatever
// other threads end, it lives.
func TestAChildOutlivesTheThreadsOfOthers(t *testing.T) {
	cmd, out := shell(t.Context(), "sleep 0.3; echo lived")
	ended := make(chan struct{})
	var g *child.Group
	var err error
	go func() {
		defer close(ended)
		g, err = child.Start(cmd)
		runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
	}()
	<-ended
	if err != nil {
		t.Fatal(err)
	}
	defer g.Release()
	if err := cmd.Wait(); err != nil {
		t.Errorf("Wait = %v with %q, want the child to live on", err, out)
	}
}
