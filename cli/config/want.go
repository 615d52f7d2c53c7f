package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A want checks the value of a setting from a file or a variable, and returns it as
// text. The error says which values it accepts.
type want func(v any) (string, error)

func text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	return "", fmt.Errorf("want text in quotes, got %v", v)
}

// oneOf accepts one of some words.
func oneOf(words ...string) want {
	return func(v any) (string, error) {
		if s, ok := v.(string); ok && slices.Contains(words, s) {
			return s, nil
		}
		return "", fmt.Errorf("want one of %s, got %v", strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", "), v)
	}
}

// onOff accepts on or off, or a boolean.
func onOff(v any) (string, error) {
	switch v {
	case true, "on", "true":
		return "on", nil
	case false, "off", "false":
		return "off", nil
	}
	return "", fmt.Errorf("want on or off, got %v", v)
}

// number accepts a number of at least 0.
func number(v any) (string, error) {
	n, err := strconv.Atoi(fmt.Sprint(v))
	if err != nil || n < 0 {
		return "", fmt.Errorf("want a number from 0, got %v", v)
	}
	return strconv.Itoa(n), nil
}

// list accepts a list of words.
func list(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []any:
		words := make([]string, len(v))
		for i, w := range v {
			words[i] = fmt.Sprint(w)
		}
		return strings.Join(words, ", "), nil
	}
	return "", fmt.Errorf("want a list such as [\"shell\"], got %v", v)
}
