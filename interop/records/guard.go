package records

import (
	"errors"
	"fmt"
)

// errPanic says that a format's code panicked on what a file contains.
var errPanic = errors.New("a bug in skein made reading it fail")

// Guard turns a panic in a format's code into the error of the source that it
// was reading. Defer it.
func Guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errPanic, p)
	}
}
