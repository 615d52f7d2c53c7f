package llmtest

import (
	"time"

	"github.com/skein-dev/skein"
)

// A Break says how an answer fails.
type Break string

// The ways to fail. All but Drop happen after Reply.At bytes of the body.
const (
	Cut     Break = "cut"     // the connection is reset
	End     Break = "end"     // the stream ends early, with what looks like a normal end
	Hang    Break = "hang"    // nothing more is sent until the client leaves
	Hold    Break = "hold"    // nothing is sent until Reply.On is closed, then the rest
	Garbage Break = "garbage" // after the current event comes one that is not valid JSON
	Drop    Break = "drop"    // the connection is closed without an answer
)

// A Reply is one answer of a [Server].
type Reply struct {
	Parts []skein.Part // text, reasoning, calls; reasoning without text is sent hidden
	Usage skein.Usage  // the zero value means a few tokens
	Tier  string       // service tier, in the provider's words; "" for the default
	Stop  string       // why it ends, in the provider's words; "" for the default
	Model string       // model that answers; "" for the requested one

	// Status makes the reply an error, if not 0; if it is 200, the error is an
	// event in the stream after Parts.
	Status  int
	Kind    string // type or code of the error, in the provider's words; "" for the default of that status
	Message string
	After   time.Duration // how long the client should wait

	Page string // HTML page to send instead; "" for none
	To   string // URL to redirect to instead; "" for none

	Break Break           // "" for no failure
	At    int             // bytes of the body before the failure
	On    <-chan struct{} // when it is closed, a held answer continues
	Pace  time.Duration   // pause between events
	Bare  bool            // without request ID and usage, like some servers
}

// Says returns an answer with one text.
func Says(text string) Reply { return Reply{Parts: []skein.Part{skein.TextPart(text)}} }

// Calls returns an answer that calls tools.
func Calls(calls ...skein.Call) Reply {
	var r Reply
	for _, c := range calls {
		r.Parts = append(r.Parts, skein.Part{Kind: skein.PartCall, Call: &c})
	}
	return r
}

// Thinks returns r with a thought before it.
func Thinks(thought string, r Reply) Reply {
	r.Parts = append([]skein.Part{{Kind: skein.PartReasoning, Text: skein.Text(thought)}}, r.Parts...)
	return r
}

// Fails returns an error with that HTTP status.
func Fails(status int, message string) Reply { return Reply{Status: status, Message: message} }

// Breaks returns r, failing as how says after at bytes.
func Breaks(r Reply, how Break, at int) Reply {
	r.Break, r.At = how, at
	return r
}

// Holds returns r, held after at bytes until on is closed.
func Holds(r Reply, at int, on <-chan struct{}) Reply {
	r.Break, r.At, r.On = Hold, at, on
	return r
}

// usage returns the usage that is reported.
func (r *Reply) usage() skein.Usage {
	if r.Usage == (skein.Usage{}) {
		return skein.Usage{Input: 12, Output: 7}
	}
	return r.Usage
}

// calls reports whether the answer calls a tool.
func (r *Reply) calls() bool {
	for _, p := range r.Parts {
		if p.Kind == skein.PartCall {
			return true
		}
	}
	return false
}
