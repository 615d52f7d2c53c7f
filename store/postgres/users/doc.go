// Package users keeps the accounts of a store that many users share in PostgreSQL:
// users, their tokens and logins.
package users
