// Package notice tells a person who looks elsewhere that a session waits for them, has
// failed or is done, and that a budget is nearly used: on the desktop, in a chat,
// by e-mail, by a webhook or by ntfy.
package notice
