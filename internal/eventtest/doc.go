// Package eventtest makes events for tests: by hand, and from random bytes.
package eventtest
