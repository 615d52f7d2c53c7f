package exchange

import (
	"strconv"
	"testing"
)

func TestAProgressBarFitsIntoItsColumns(t *testing.T) {
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, c := range []struct {
		done, of int64
		columns  int
		want     string
	}{
		{0, 7, 80, "pushing   0% [                              ] 0 of 7"},
		{3, 7, 80, "pushing  42% [============                  ] 3 of 7"},
		{7, 7, 80, "pushing 100% [==============================] 7 of 7"},
		{3, 7, 52, "pushing  42% [============                  ]"},
		{3, 7, 40, "pushing  42%"},
	} {
		got := barLine("pushing", c.done, c.of, count, c.columns)
		if got != c.want || len(got) >= c.columns {
			t.Errorf("barLine(%d of %d, %d columns) = %q, want %q", c.done, c.of, c.columns, got, c.want)
		}
	}
}
