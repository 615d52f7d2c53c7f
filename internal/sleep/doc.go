// Package sleep waits for a time to pass, as long as somebody still wants that.
package sleep
