package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newCompletion(f *frame) *cobra.Command {
	c := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "print a shell completion script",
		Long: `Print a script with which a shell completes commands, flags, and the IDs and
titles of sessions.

  bash         source <(skein completion bash)      in ~/.bashrc
  zsh          source <(skein completion zsh)       in ~/.zshrc, after compinit
  fish         skein completion fish | source       in config.fish
  powershell   skein completion powershell | Out-String | Invoke-Expression`,
		Args:      words(1, 1, "the name of a shell: bash, zsh, fish or powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
	}
	c.RunE = f.plain(func(_ context.Context, j *job, args []string) error {
		switch args[0] {
		case "bash":
			return c.Root().GenBashCompletionV2(j.Stdout, true)
		case "zsh":
			return c.Root().GenZshCompletion(j.Stdout)
		case "fish":
			return c.Root().GenFishCompletion(j.Stdout, true)
		case "powershell", "pwsh":
			return c.Root().GenPowerShellCompletionWithDesc(j.Stdout)
		}
		return usagef("no completion for %q: want bash, zsh, fish or powershell", args[0])
	})
	return c
}
