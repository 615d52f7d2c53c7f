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
	maxAfter   = 24 * time.Hour // limit of Error.After
	maxMessage = 4 << 10        // bytes of Error.Message
	maxBody    = 64 << 10       // bytes that are read of an error response
)

// Refused returns the error in a provider's response, whatever the shape of its
// body, and closes the body.
func Refused(res *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxBody)) // a partial body says more than the read error
	_ = res.Body.Close()
	return Refusal(res.StatusCode, res.Header, body)
}

// Refusal returns the error in body, which came with that HTTP status or as an
// error event in a stream: then the status is 200, and the error's status is 0.
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

// cut returns at most maxMessage bytes of s, without splitting a character.
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
//	{"error": {"message": …, "type": …, "code": …}}         OpenAI and compatible servers
//	[{"error": {"code": …, "message": …, "status": …}}]     Google
//	{"error": "…"}                                          Ollama
//	{"message": …}, {"detail": …}                           gateways
//
// Any other body is the message.
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

// words returns the provider's names for the kind of error, in lower case.
func (c *complaint) words() string {
	return strings.ToLower(c.Type + " " + strings.Trim(string(c.Code), `"`) + " " + c.Status)
}

// kind returns the kind of the error.
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
		return ErrDenied // waiting does not help
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

// kindInStream returns the kind of an error in the middle of a stream: that of
// the HTTP status which some servers give as its code. An error that is not
// blamed on the request may not occur again.
func (c *complaint) kindInStream(words string) error {
	if status, err := strconv.Atoi(strings.Trim(string(c.Code), `"`)); err == nil && status >= 400 {
		return kindOf(status)
	}
	if strings.Contains(words, "invalid") {
		return ErrRequest
	}
	return ErrCut
}

// kindOf returns the kind of error for a status.
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

// after returns how long the provider asks to wait: according to its headers,
// in milliseconds, seconds or as a date, or to a google.rpc.RetryInfo in its
// body.
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

// bounded returns ns nanoseconds, limited to 0 to maxAfter.
func bounded(ns float64) time.Duration { return time.Duration(min(max(0, ns), float64(maxAfter))) }
