// Package room bounds how many bytes are held at once by many who do not know of
// each other, such as the requests of a server.
package room
