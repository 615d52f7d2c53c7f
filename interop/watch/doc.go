// Package watch keeps importing as files change: see [Watch].
package watch
