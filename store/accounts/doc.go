// Package accounts defines who may use a shared store: accounts, tokens and
// logins.
package accounts
