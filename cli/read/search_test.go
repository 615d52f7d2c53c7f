package read

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/skein-dev/skein"
	"github.com/skein-dev/skein/cli/job"
)

func TestAScoreOfNothingIsZero(t *testing.T) {
	var b bytes.Buffer
	if err := job.WriteJSON(&b, newHitLine(&skein.Session{}, skein.Hit{Score: math.Copysign(0, -1)})); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, `"score":0,`) {
		t.Errorf("a hit with a score of -0 is written %s, want the score 0", got)
	}
}
