package shell

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"syscall"
)

const name = "cmd /c"

// command passes line to cmd unchanged: cmd parses quotes differently from
// other programs.
func command(ctx context.Context, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, cmp.Or(os.Getenv("ComSpec"), "cmd.exe"))
	c.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /d /s /c "` + line + `"`}
	return c
}
