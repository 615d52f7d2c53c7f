package price

// A UsageLine is the JSON form of a [Sum], for the API and the command line.
type UsageLine struct {
	Of       string   `json:"of" doc:"the day, model, agent, project or session ID"`
	Name     string   `json:"name,omitempty" doc:"of a session"`
	Requests int64    `json:"requests"`
	Input    int64    `json:"input" doc:"without what was read from and written to the cache"`
	Output   int64    `json:"output" doc:"reasoning included"`
	Reason   int64    `json:"reasoning"`
	Read     int64    `json:"cache_read"`
	Write    int64    `json:"cache_write"`
	Hour     int64    `json:"cache_hour" doc:"part of cache_write: for an hour"`
	Cost     *float64 `json:"cost_usd" doc:"null if some of it has no known price"`
	Known    float64  `json:"priced_usd" doc:"what is known of it"`
	Recorded *float64 `json:"recorded_usd,omitempty" doc:"what the programs themselves recorded as its cost, of as much of it as they did"`
	Same     *float64 `json:"recorded_priced_usd,omitempty" doc:"what the requests whose cost was recorded cost by our prices"`
	Unpriced []string `json:"unpriced_models,omitempty"`
}

// Line returns s in its JSON form, without a name.
func (s Sum) Line() UsageLine {
	u := s.Usage
	line := UsageLine{
		Of: s.Of, Requests: u.Requests, Input: u.Input, Output: u.Output, Reason: u.Reasoning, Read: u.CacheRead, Write: u.CacheWrite, Hour: u.CacheHour,
		Cost: s.USD(), Known: float64(s.Cost) / 1e9, Unpriced: s.Unpriced,
	}
	if u.Reported > 0 {
		usd := float64(u.Reported) / 1e9
		ours := float64(s.ours) / 1e9
		line.Recorded, line.Same = &usd, &ours
	}
	return line
}

// USD returns the cost of s in dollars; nil if some of it has no price.
func (s Sum) USD() *float64 {
	if len(s.Unpriced) > 0 {
		return nil
	}
	usd := float64(s.Cost) / 1e9
	return &usd
}
