package sessionlog_test

import (
	"fmt"
	"log"
	"os"

	"github.com/skein-dev/skein/agent/sessionlog"
)

func ExampleTurns() {
	f, err := os.Open("testdata/thread.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for turn, err := range sessionlog.Turns(f) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s (%d steps, %d damaged lines)\n", turn.User.Text, turn.Final.Text, len(turn.Steps), turn.Damaged)
	}
	// Output:
	// list the files: Two files. (6 steps, 0 damaged lines)
	// thanks: You are welcome. (3 steps, 0 damaged lines)
}
