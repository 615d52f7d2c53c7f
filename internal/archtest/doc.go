// Package archtest holds the house rules that a machine can check: who imports
// whom, what a comment must say, what no file may have in it. It has only
// tests; they read the whole checkout.
package archtest
