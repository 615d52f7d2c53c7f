package write

import (
	"testing"
	"time"
)

// A first import rests until it has used half of a core's time at most.
func TestAFirstImportUsesHalfACore(t *testing.T) {
	used := 3 * time.Second
	p := &pace{used: 3 * time.Second, cpu: func() time.Duration { return used }}
	for _, c := range []struct{ worked, passed, want time.Duration }{
		{0, 0, 0},
		{time.Second, time.Second, time.Second}, // all the time
		{2 * time.Second, time.Second, 3 * time.Second},   // on two cores
		{time.Second, 2 * time.Second, 0},                 // half of it
		{time.Second, 10 * time.Second, -8 * time.Second}, // it waited for the disk: no rest
	} {
		used = p.used + c.worked
		if got := p.due(c.passed); got != c.want {
			t.Errorf("after %v of work in %v, it rests %v, want %v", c.worked, c.passed, got, c.want)
		}
	}
}

func TestTheTimeOfThisProcessIsKnown(t *testing.T) {
	if processorTime() <= 0 {
		t.Error("this process has used no processor")
	}
}
