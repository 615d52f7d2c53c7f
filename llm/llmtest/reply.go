package llmtest

import (
	"time"

	"github.com/skein-dev/skein"
)

// A Break says how an answer goes wrong.
type Break string

// The ways to go wrong. All but Drop begin after Reply.At bytes of the body.
const (
	Cut     Break = "cut"     // the connection is reset
	End     Break = "end"     // the stream ends as if it had come to its end
	Hang    Break = "hang"    // nothing comes any more, until the client leaves
	Hold    Break = "hold"    // nothing comes until Reply.On is closed, then the rest
	Garbage Break = "garbage" // after the event that is under way comes one that is no JSON
	Drop    Break = "drop"    // the connection is closed without an answer
)

// A Reply is one answer of a [Server].
type Reply struct {
	Parts []skein.Part // text, reasoning, calls; reasoning without text comes hidden
	Usage skein.Usage  // the zero value is a few tokens
	Tier  string       // service tier, in the provider's word; "" is the usual one
	Stop  string       // why it ends, in the provider's word; "" is the usual one
	Model string       // that answers; "" is the one that was asked for

	// An error instead, if Status is not 0; if it is 200, as an event in the
	// stream after Parts.
	Status  int
	Kind    string // type or code of the error, in the provider's word; "" is the usual one of that status
	Message string
	After   time.Duration // how long to be left alone

	Page string // an HTML page instead; "" for none
	To   string // a redirect to this URL instead; "" for none

	Break Break           // "" for nothing
	At    int             // bytes of the body before that
	On    <-chan struct{} // when it is closed, what was held goes on
	Pace  time.Duration   // between one event and the next
	Bare  bool            // without request ID and usage, as some servers are
}

// Says returns an answer of one text.
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

// Breaks returns r that goes wrong after so many bytes.
func Breaks(r Reply, how Break, at int) Reply {
	r.Break, r.At = how, at
	return r
}

// Holds returns r that waits after so many bytes until on is closed.
func Holds(r Reply, at int, on <-chan struct{}) Reply {
	r.Break, r.At, r.On = Hold, at, on
	return r
}

// usage returns what is reported.
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
