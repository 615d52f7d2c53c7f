package skein

// A Usage is what model requests used. Token counts are the provider's own; a
// count that it does not report is 0.
type Usage struct {
	Input      int64 `json:"input,omitempty"`       // tokens read, without those of CacheRead and CacheWrite
	Output     int64 `json:"output,omitempty"`      // tokens written, Reasoning included
	Reasoning  int64 `json:"reasoning,omitempty"`   // part of Output
	CacheRead  int64 `json:"cache_read,omitempty"`  // tokens read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitempty"` // tokens put into it
	CacheHour  int64 `json:"cache_hour,omitempty"`  // part of CacheWrite: put there for an hour, which costs more than for five minutes
	Requests   int64 `json:"requests,omitempty"`    // model requests; set by the fold
	Reported   int64 `json:"reported,omitempty"`    // cost that the source reported, in billionths of a US dollar; 0 if it did not
}

// Plus returns the sum of u and v.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		Reasoning:  u.Reasoning + v.Reasoning,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		CacheHour:  u.CacheHour + v.CacheHour,
		Requests:   u.Requests + v.Requests,
		Reported:   u.Reported + v.Reported,
	}
}

// Minus returns what u has more than v, field by field.
func (u Usage) Minus(v Usage) Usage {
	return u.Plus(Usage{-v.Input, -v.Output, -v.Reasoning, -v.CacheRead, -v.CacheWrite, -v.CacheHour, -v.Requests, -v.Reported})
}

// Merge returns what is known of one request of which first u, then v was
// reported: the larger output, for it grows while an answer streams, and of
// the other counters the later one that is not 0. CacheHour stays a part of
// CacheWrite.
func (u Usage) Merge(v Usage) Usage {
	later := func(a, b int64) int64 {
		if b != 0 {
			return b
		}
		return a
	}
	return Usage{
		Input:      later(u.Input, v.Input),
		Output:     max(u.Output, v.Output),
		Reasoning:  max(u.Reasoning, v.Reasoning),
		CacheRead:  later(u.CacheRead, v.CacheRead),
		CacheWrite: later(u.CacheWrite, v.CacheWrite),
		CacheHour:  min(later(u.CacheHour, v.CacheHour), later(u.CacheWrite, v.CacheWrite)),
		Requests:   max(u.Requests, v.Requests),
		Reported:   max(u.Reported, v.Reported),
	}
}

// Tokens returns all tokens of u: read, written and cached.
func (u Usage) Tokens() int64 { return u.Prompt() + u.Output }

// Prompt returns all tokens that were read: new, from the cache and put into it.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// A Charge is what one event says of the cost of one request.
type Charge struct {
	Request  string // provider request ID; the store counts each once per user
	Provider string
	Model    string
	Tier     Tier // what Usage and the record say; [Added.Tier] knows of the events before, too
	Several  bool // Usage is of several requests, of whose prompts nothing is known
	Time     Time
	Usage    Usage // Requests is 1
}

// tier returns the tier of the request if u is what it used.
func (c *Charge) tier(service string, u Usage) Tier {
	if c.Several {
		return TierOf(service, 0)
	}
	return TierOf(service, u.Prompt())
}
