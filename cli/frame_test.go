package cli

import (
	"strings"
	"testing"

	"github.com/skein-dev/skein/cli/config"
	"github.com/skein-dev/skein/cli/job"
)

func TestAWordWithAHyphenIsNoFlag(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"search a -b --each -h", "search a ~b --each -h"},
		{"tag x -y", "tag x ~y"},
		{"--store s search -x", "--store s search ~x"},
		{"search -- -x", "search -- -x"},
		{"list -a", "list -a"},
		{"show search -x", "show search -x"},
		{"search --limit -1 -x", "search --limit -1 ~x"},
		{"search --tool -x --each -y --store -z", "search --tool -x --each ~y --store -z"},
	} {
		f := &job.Frame{Env: &config.Env{}}
		got := strings.ReplaceAll(strings.Join(protect(newRoot(f), strings.Fields(c.in)), " "), job.Minus, "~")
		if got != c.want {
			t.Errorf("protect(%s) = %s, want %s", c.in, got, c.want)
		}
	}
}
