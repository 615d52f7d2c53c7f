// Package accounts names who may use a store that many share: accounts, tokens
// and logins.
package accounts
