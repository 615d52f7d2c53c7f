package child_test

import "testing"

// In a session of its own, a program has no terminal and does not get the signals of
// ours.
func TestAChildIsASessionOfItsOwn(t *testing.T) {
	if got := run(t, `set -- $(cat /proc/$$/stat); if [ "$6" = $$ ]; then echo own; else echo "that of $6"; fi`); got != "own" {
		t.Errorf("the child's session is %s, want its own", got)
	}
}
