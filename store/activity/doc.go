// Package activity says what each session is doing: working, waiting for a person,
// idle, failed or ended. [Of] is the rule: it decides by what the session's events say
// and by what was looked up beside them. [Look] looks that up, and [All] asks a store.
package activity
