package roster

import (
	"github.com/skein-dev/skein/llm"
)

// A target is a model and the way to it.
type target struct {
	provider, model, key string
	at                   Provider
}

// reach returns the model t.
func (r *Roster) reach(t target) (llm.Provider, error) {
	return nil, &ModelError{t.provider + ":" + t.model, "not there yet", nil}
}
