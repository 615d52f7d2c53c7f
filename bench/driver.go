package main

import (
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver that skein is compared with
)

// bare opens a store's file with only the driver, for reading.
func bare(dir string) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Path: filepath.Join(dir, "skein.db"), RawQuery: "mode=ro&_pragma=cache_size(-16384)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// pages returns the size of the database in bytes, including its write-ahead
// log.
func pages(dir string) (int64, error) {
	db, err := bare(dir)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	var count, size int64
	if err := db.QueryRow(`PRAGMA page_count`).Scan(&count); err != nil {
		return 0, err
	}
	if err := db.QueryRow(`PRAGMA page_size`).Scan(&size); err != nil {
		return 0, err
	}
	return count * size, nil
}
