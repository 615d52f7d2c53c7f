// Package openapi is a table of HTTP operations that document themselves: the
// OpenAPI document, its page for people and the checks of requests are made from
// the Go types that requests are decoded into and answers are written from.
package openapi
