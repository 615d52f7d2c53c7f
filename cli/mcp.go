package cli

import (
	"context"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/price"
	"github.com/skein-dev/skein/server/mcp"
)

func newMCP(f *frame) *cobra.Command {
	var write bool
	c := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "let an agent read the sessions, over the Model Context Protocol",
		Long: `Serve an agent that starts this program, over stdin and stdout: tools to list,
search and read sessions, and to see their families and costs; and sessions as
resources. With --write, there are also tools to add a note, to fork and to
rename. No tool changes or removes what was said.

What the agent receives is framed as data, so that no transcript can pass for an
instruction, and contains no secrets. skein serve offers the same at /mcp,
including the tools that write if you use --mcp-write.

Most agents are configured like this:

  {"mcpServers": {"skein": {"command": "skein", "args": ["mcp"]}}}`,
		Example: `skein mcp
	claude mcp add skein -- skein mcp`,
		Args: words(0, 0, ""),
		RunE: f.withStore(func(ctx context.Context, j *job, _ []string) error {
			o := j.mcpOptions()
			o.Store, o.Write = j.store, write
			return mcp.Serve(ctx, o, io.NopCloser(j.Stdin), unclosed{j.Stdout})
		}),
	}
	c.Flags().BoolVar(&write, "write", false, "include tools that add notes, forks and titles")
	return c
}

// unclosed is a stream that only its owner closes.
type unclosed struct{ io.Writer }

// Close implements [io.Closer].
func (unclosed) Close() error { return nil }

// mcpOptions returns the options of the MCP server's tools.
func (j *job) mcpOptions() mcp.Options {
	prices := sync.OnceValues(func() (*price.List, error) { return price.Load(j.settings.prices...) })
	return mcp.Options{Version: j.Version, Now: j.Now, Cost: func(r skein.UsageRow) (float64, bool, error) {
		table, err := prices()
		if err != nil {
			return 0, false, err
		}
		usd, ok := table.Cost(r, skein.At(j.Now()))
		return float64(usd) / 1e9, ok, nil
	}}
}
