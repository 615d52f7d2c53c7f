//go:build unix

package shell

import (
	"context"
	"os/exec"
)

const name = "sh -c"

func command(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "/bin/sh", "-c", line)
}
