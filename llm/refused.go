package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxAfter   = 24 * time.Hour // of Error.After: nobody waits longer
	maxMessage = 4 << 10        // bytes of Error.Message
	maxBody    = 64 << 10       // bytes that are read of an answer that is none
)

// Refused returns what a provider answered in place of a model, whatever the
// shape of its body, and closes that.
func Refused(res *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxBody)) // what came says more than why no more did
	_ = res.Body.Close()
	return Refusal(res.StatusCode, res.Header, body)
}

// Refusal returns the error that body, an answer with that HTTP status or an
// error event in a stream, stands for: the status is 200 then, and the error has none.
func Refusal(status int, header http.Header, body []byte) *Error {
	c := complaintOf(body)
	if status == http.StatusOK {
		status = 0
	}
	e := &Error{Status: status, Message: cut(c.Message), After: after(header, c)}
	e.Kind = c.kind(status)
	if e.Message == "" && status != 0 {
		e.Message = http.StatusText(status)
	}
	return e
}

// cut returns at most maxMessage bytes of s, whole characters.
func cut(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage]
	}
	return strings.ToValidUTF8(strings.TrimSpace(s), "")
}

// A complaint is an error in a provider's words.
type complaint struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a word or a number
	Status  string          `json:"status"`
	Details json.RawMessage `json:"details"`
}

// complaintOf finds the complaint in body:
//
//	{"type": "error", "error": {"type": …, "message": …}}   Anthropic
//	{"error": {"message": …, "type": …, "code": …}}         OpenAI and most who speak like it
//	[{"error": {"code": …, "message": …, "status": …}}]     Google
//	{"error": "…"}                                          Ollama
//	{"message": …}, {"detail": …}                           gateways
//
// Anything else is taken as it is.
func complaintOf(body []byte) complaint {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error  json.RawMessage `json:"error"`
		Detail any             `json:"detail"`
		complaint
	}
	if json.Unmarshal(body, &outer) != nil {
		return complaint{Message: string(body)}
	}
	c, word := outer.complaint, ""
	switch {
	case json.Unmarshal(outer.Error, &word) == nil && word != "":
		c.Message = word
	case len(outer.Error) > 0 && string(outer.Error) != "null":
		var inner complaint
		if json.Unmarshal(outer.Error, &inner) == nil && inner.Message != "" {
			return inner
		}
		c.Message = string(outer.Error)
	case c.Message == "" && outer.Detail != nil:
		c.Message = fmt.Sprint(outer.Detail)
	}
	if c.Message == "" {
		c.Message = string(body)
	}
	return c
}

// words returns the complaint's own words for its kind, in lower case.
func (c *complaint) words() string {
	return strings.ToLower(c.Type + " " + strings.Trim(string(c.Code), `"`) + " " + c.Status)
}

// kind says what a caller can do.
func (c *complaint) kind(status int) error {
	says := func(s string, words ...string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	words, message := c.words(), strings.ToLower(c.Message)
	switch {
	case says(words, "insufficient_quota", "billing", "credit"):
		return ErrDenied // waiting does not fill a purse
	case says(words, "context_length", "exceed_context", "request_too_large", "string_above_max_length"), says(message,
		"prompt is too long", "maximum context length", "context window", "exceeds the maximum number of tokens",
		"exceeds the available context", "input length and `max_tokens` exceed", "reduce the length"):
		return ErrTooLong
	case (status == 0 || status == http.StatusTooManyRequests || status >= 500) && says(words, "overloaded", "rate_limit", "resource_exhausted", "unavailable", "server_error", "api_error", "timeout", "internal"):
		return ErrBusy
	case says(words, "authentication", "permission", "invalid_api_key", "unauthenticated"), says(message, "api key not valid", "api key not found"):
		return ErrDenied
	case says(words, "not_found", "model_not_found"):
		return ErrModel
	}
	if status == 0 {
		return c.kindInStream(words)
	}
	return kindOf(status)
}

// kindInStream says what a caller can do about an error in the middle of a
// stream: as the HTTP status says that some servers give as its code. What
// nobody blames on the request may go well another time.
func (c *complaint) kindInStream(words string) error {
	if status, err := strconv.Atoi(strings.Trim(string(c.Code), `"`)); err == nil && status >= 400 {
		return kindOf(status)
	}
	if strings.Contains(words, "invalid") {
		return ErrRequest
	}
	return ErrCut
}

// kindOf says what a caller can do, by the status alone.
func kindOf(status int) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired, status == http.StatusForbidden:
		return ErrDenied
	case status == http.StatusNotFound:
		return ErrModel
	case status == http.StatusRequestEntityTooLarge:
		return ErrTooLong
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= 500:
		return ErrBusy
	}
	return ErrRequest
}

// after returns how long the provider wants to be left alone: as its headers
// say, in milliseconds, seconds or until when; or as a google.rpc.RetryInfo in
// its body does.
func after(h http.Header, c complaint) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return bounded(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return bounded(s * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return bounded(float64(time.Until(at)))
	}
	var details []struct {
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(c.Details, &details) == nil {
		for _, d := range details {
			if wait, err := time.ParseDuration(d.RetryDelay); err == nil {
				return bounded(float64(wait))
			}
		}
	}
	return 0
}

// bounded returns so many nanoseconds, from 0 to maxAfter.
func bounded(ns float64) time.Duration { return time.Duration(min(max(0, ns), float64(maxAfter))) }
