// Command spread checks the arithmetic of docs/scaling.md: it generates a
// million users with sessions of realistic lengths and sizes, assigns each user
// to a shard by the hash of the name, and adds up what every shard has to store
// and to append.
//
//	go run ./spread                     # 1,000,000 users on 32, 64 and 128 shards
//	go run ./spread -corpus DIR         # sizes of the sessions (*.jsonl) in DIR
//
// Each figure is printed next to the one that the arithmetic predicts.
package main
